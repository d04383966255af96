"""The learners as scikit-learn estimators, with exact held-out scores in ``heldout_``.

``kernel`` is ``"linear"``, another of scikit-learn's kernel names, ``"precomputed"``, one of ours
(``X`` may then be any sequence of what it compares), or a function of two matrices or two rows.

>>> import numpy as np
>>> from sklearn.model_selection import GridSearchCV
>>> X = np.random.default_rng(0).standard_normal((60, 3))
>>> y = np.sin(X[:, 0])
>>> search = GridSearchCV(RLSRegressor(kernel="rbf"), {"gamma": [0.01, 0.1, 1.0]}, cv=3)
>>> search.fit(X, y).best_params_
{'gamma': 0.1}
>>> search.best_estimator_.heldout_.shape    # every alpha, every sample left out once
(30, 60)
"""

from textrank.estimators.embedding import G2P
from textrank.estimators.ranking import RankRLS, RankSVM
from textrank.estimators.rls import RLSClassifier, RLSRegressor

__all__ = ["G2P", "RLSClassifier", "RLSRegressor", "RankRLS", "RankSVM"]
