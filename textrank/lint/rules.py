"""Rules for closed patterns of real-word errors, such as "should of" for "should have".

A rule needs no weights: a word is wrong if its neighbours are among a few words. Each was counted
on text that nothing is learnt from (``docs/experiments/spelling.py rules``) before it was let in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

RULE_PRECISION = 0.995  # share of flags of rules that were correct on text without planted errors
COMMON_RULE_PRECISION = 0.95  # the same of rules whose neighbours are less telling


@dataclass(frozen=True)
class Rule:
    """Word that is wrong among certain neighbours.

    ``before`` and ``after`` are the words of which the neighbour on that side must be one, and
    ``unless_before`` and ``unless_after`` those of which it must be none; ``after_next`` and
    ``unless_after_next`` are the same of the word after the next. An empty set of words sets no
    condition. "" stands for a neighbour outside of the sentence. The rule is used if a precision of
    at most ``precision`` is wanted.
    """

    printed: str
    proposal: str
    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    after_next: frozenset[str] = frozenset()
    unless_before: frozenset[str] = frozenset()
    unless_after: frozenset[str] = frozenset()
    unless_after_next: frozenset[str] = frozenset()
    precision: float = RULE_PRECISION

    @property
    def title(self) -> str:
        """Return both words in alphabetical order, joined by a slash: the name of the pair."""
        return "/".join(sorted((self.printed, self.proposal)))

    @cached_property
    def conditions(self) -> Iterable[tuple[int, frozenset[str], bool]]:
        """Return (offset, words, whether the neighbour must be one of them) of all conditions.

        All must hold. ``offset`` counts from the printed word: -1 is the word before it, 2 the word
        after the next. Empty sets of words are left out.
        """
        table = (
            (-1, self.before, True),
            (1, self.after, True),
            (2, self.after_next, True),
            (-1, self.unless_before, False),
            (1, self.unless_after, False),
            (2, self.unless_after_next, False),
        )
        return [condition for condition in table if condition[1]]


def _words(text: str) -> frozenset[str]:
    """Return the words of a text, separated by white space, as a set.

    "_" becomes "", which stands for a neighbour outside of the sentence.
    """
    return frozenset("" if word == "_" else word for word in text.split())


_MODALS = _words(
    "could should would might must couldn't shouldn't wouldn't mightn't mustn't could've should've"
)
_FORMS_OF_BE = _words(
    "is are was were be been am isn't aren't wasn't weren't i'm you're he's she's"
)
_COMPARATIVES = _words(
    "more less fewer rather better worse higher lower larger smaller greater bigger older younger "
    "longer shorter faster slower stronger weaker easier harder cheaper newer wider deeper"
)
_DETERMINERS = _words("the a an my your his her its their our any some it them this that all")
_AUXILIARIES = _words(
    "will would can could might may cannot can't won't wouldn't couldn't don't doesn't didn't"
)
_CLAUSE_ENDS = _words(", . ; : ! ? ) _")
_STRICT_RULES: tuple[Rule, ...] = (
    Rule(
        "of",
        "have",
        before=_MODALS,
        unless_after=_words(
            "course necessity needs itself themselves the a an this that these those its it their "
            "his her our my any"
        )
        | _CLAUSE_ENDS,
    ),
    Rule("their", "there", after=_words("is are was were isn't aren't wasn't weren't has seems")),
    Rule("there", "their", after=_words("own")),
    Rule("they're", "their", after=_words("own")),
    Rule("you're", "your", after=_words("own")),
    Rule("your", "you're", after=_words("not gonna supposed")),
    Rule("your", "you're", after=_words("welcome"), after_next=_CLAUSE_ENDS | _words("to")),
    Rule("it's", "its", after=_words("own")),
    Rule("its", "it's", after=_words("a an the not been because")),
    Rule(
        "its",
        "it's",
        after=_words("possible impossible important likely unlikely clear easy hard true"),
        after_next=_words("to that"),
    ),
    Rule("who's", "whose", after=_words("own")),
    Rule("then", "than", before=_COMPARATIVES, unless_after=_CLAUSE_ENDS),
    Rule("than", "then", before=_words("and but since until")),
    Rule(
        "to",
        "too",
        before=_words("is are was were be been it's that's far way not"),
        after=_words("much many late early big small long short hard slow heavy expensive complex"),
        unless_after_next=_words("of to"),
    ),
    Rule("suppose", "supposed", before=_FORMS_OF_BE | _words("not"), after=_words("to")),
    Rule("use", "used", before=_FORMS_OF_BE, after=_words("to")),
    Rule("loose", "lose", before=_AUXILIARIES, after=_DETERMINERS),
    Rule("advise", "advice", before=_words("some good bad legal medical free useful any")),
    Rule("affect", "effect", before=_words("no any little side")),
    Rule(
        "effect",
        "affect",
        before=_AUXILIARIES | _words("not"),
        after=_words("the your his her its their our how other all"),
        unless_after_next=_words("change changes transition transfer removal"),
    ),
    Rule(
        "lets",
        "let's",
        before=_words("_"),
        after=_words("see say look assume start begin consider take go try make suppose"),
    ),
    Rule("accept", "except", before=_words("everyone everybody everything nothing nobody")),
    Rule("excepted", "accepted", before=_words("generally widely be commonly")),
)


def _rule(pattern: str, **conditions: str) -> Rule:
    """Return a rule of COMMON_RULE_PRECISION from "printed → proposal" and texts of words.

    The keywords are fields of ``Rule``, such as ``before``; their texts are read by ``_words``. The
    word "END" in a text stands for ``_CLAUSE_ENDS``, punctuation and the end of the sentence.
    """
    printed, proposal = pattern.split(" → ")
    sets = {
        name: _words(text.replace("END", ""))
        | (_CLAUSE_ENDS if "END" in text.split() else frozenset())
        for name, text in conditions.items()
    }
    return Rule(printed, proposal, precision=COMMON_RULE_PRECISION, **sets)


_OBJECTS = "the a an my your his her its their our it them him me us you this that these some any"
_MODAL = "to will would can could should must may might cannot can't couldn't won't wouldn't don't "
_MODAL += "didn't doesn't please let's i'll we'll you'll they'll i'd we'd"
_BARE_VERBS = (
    "be do go make get take see say know use find give tell work call try ask feel become leave "
    "put keep let begin help show hear play run move live believe bring write meet learn change "
    "understand watch follow stop create speak read spend grow walk win teach offer remember "
    "consider buy send build stay sell decide return explain develop carry receive agree support "
    "produce eat catch draw choose visit talk sleep wait drive study start travel finish improve"
)
_PLURALS = (
    "names children parents homes houses jobs families friends homework faces hands eyes husbands "
    "wives cars phones bags clothes shoes teachers customers users employees products respective"
)
_YOUR_NOUNS = (
    "name account email password mother father car job life mind phone computer opinion question "
    "questions answer house wife husband dog letter application file code program system browser "
    "book hand hands head eyes body heart team company business website project feedback comments "
    "attention patience order room bag homework"
)
_COMMON_RULES: tuple[Rule, ...] = (
    # its, their, there, they're, your, you're, whose, who's
    _rule("its → it's", after="too probably definitely raining ok okay why where"),
    _rule("its → it's", after="going", after_next="to"),
    _rule("they're → their", before="of in with from to at by into under through near behind lost"),
    _rule("there → their", before="of with to for by at lost in", after=_PLURALS),
    _rule(
        "there → they're",
        before="_ that because if think say said know hope sure since so",
        after="trying coming doing not getting making happy ready late tired sure afraid",
    ),
    _rule("their → they're", after="trying here probably definitely gonna"),
    _rule(
        "their → they're",
        before="that because if think know when say said sure hope _ but so",
        after="going",
        after_next="to",
    ),
    _rule("your → you're", after="a an the so really probably definitely trying getting"),
    _rule("your → you're", after="going", after_next="to"),
    _rule("your → you're", after="right wrong", after_next="about"),
    _rule("you're → your", after=_YOUR_NOUNS),
    _rule("whose → who's", after="the a an not been gonna there"),
    _rule("whose → who's", after="going", after_next="to"),
    _rule(
        "who's → whose",
        after="name names fault idea house car job turn side responsibility father mother son wife",
    ),
    _rule("let's → lets", before="it that which this he she also", after="you users us me people"),
    _rule(
        "lets → let's",
        before="_",
        after="get do be have talk find think move not turn check hope keep use write define call "
        "put play just examine compare add run create discuss return focus face leave wait eat "
        "meet stop now first",
    ),
    # to, too, two
    _rule(
        "too → to",
        before="want wants wanted have has had need needs needed going able try trying tried like "
        "order way used supposed decided ready happy how easy hard difficult possible impossible "
        "time",
        after=_BARE_VERBS,
    ),
    _rule("too → to", before="according due prior related similar compared listen refer belongs"),
    # then, than
    _rule("than → then", before="by back just", after="END i he she we they it you"),
    # loose, lose
    _rule(
        "loose → lose",
        before=_MODAL + " not never",
        after="weight money control interest sight "
        "hope focus track confidence faith patience consciousness touch everything you him them "
        "her it your my his our their time",
    ),
    _rule(
        "loosing → losing",
        after="weight money control interest sight hope time his her my your their our",
    ),
    _rule("lose → loose", before="a the very fairly pretty", unless_after="of"),
    # advice, advise; affect, effect; accept, except
    _rule(
        "advice → advise",
        before=_MODAL + " strongly i we they",
        after="you him her them me us "
        "against anyone everyone patients clients customers users people",
    ),
    _rule(
        "advise → advice",
        before="your my his their our of professional financial expert practical sound great an",
    ),
    _rule(
        "affect → effect",
        before="immediate adverse profound greenhouse domino desired opposite "
        "same take took takes taking ripple placebo significant lasting",
    ),
    _rule("effect → affect", before="to", after="how everyone people us me you him them others"),
    _rule(
        "effect → affect",
        before="directly adversely negatively significantly seriously greatly severely",
        after=_OBJECTS + " all people how",
    ),
    _rule(
        "effects → affects",
        before="this it that which what directly adversely negatively significantly greatly",
        after="your my his her their our everyone people how us me you him them many both",
    ),
    _rule(
        "affects → effects", before="side the sound special adverse harmful ill long-term no any"
    ),
    _rule(
        "accept → except",
        after="for",
        after_next="the a this that one his her my your me him",
        unless_before=_MODAL + " i we they you not do _",
    ),
    _rule("accept → except", before="anything anyone anywhere everywhere"),
    _rule(
        "except → accept",
        before="will would could cannot can't won't should must can to",
        after="the a an this that these your my his her our their it responsibility payments "
        "applications",
    ),
    # verbs with the wrong form
    _rule(
        "lead → led",
        before="has have had was were been be having",
        after="to by the him her them us me a into many some people",
    ),
    _rule(
        "led → lead",
        before="will would can could may might must should doesn't didn't don't does did",
        after="to the a us you them him her me into",
    ),
    _rule("chose → choose", before=_MODAL + " do did"),
    _rule("breath → breathe", before="can can't cannot could couldn't barely"),
    _rule(
        "breath → breathe",
        before="to",
        after="in out again deeply normally through fresh properly freely easily",
    ),
    _rule("breathe → breath", before="deep a bad last fresh shallow my his her your each single"),
    _rule(
        "send → sent",
        before="was were been being be had has",
        after="to by the a him her me us them out back from an it via through",
    ),
    _rule(
        "sent → send",
        before=_MODAL + " did does",
        after="the a an you me him her us them it your my his their our this that out back",
    ),
    _rule(
        "past → passed",
        before="has have had he she they we i who",
        after="the away by his her my a an out through over without from along it me us",
    ),
    _rule(
        "passed → past",
        before="walked walk went drove ran walking drive driving running rushed "
        "flew rode hurried strolled sailed slipped jogged cycled marched raced squeezed stumbled "
        "wandered sped",
    ),
    _rule(
        "passed → past",
        before="the",
        after="few year years week weeks month months decade "
        "decades century hour hours day days two three",
    ),
    # nouns
    _rule(
        "principle → principal",
        after="investigator investigators component components reason "
        "amount author cause source dancer residence",
    ),
    _rule("principle → principal", before="school vice assistant", unless_after="of"),
    _rule(
        "principal → principle",
        before="basic guiding fundamental moral uncertainty exclusion "
        "precautionary founding underlying core",
        unless_after="component components amount investigator axes axis stress stresses curvature",
    ),
    _rule("principal → principle", before="in on", after=", ; :"),
    _rule(
        "principals → principles",
        before="basic guiding fundamental moral founding underlying "
        "core design first ethical scientific",
    ),
    _rule(
        "peace → piece",
        before="a one small big last each every single large another",
        after="of",
        unless_after_next="mind",
    ),
    _rule(
        "piece → peace",
        after="treaty treaties talks prize agreement process movement negotiations accord",
    ),
    _rule("piece → peace", before="world inner lasting nobel"),
    _rule(
        "weather → whether",
        before="know knows knew wonder wondering wondered decide deciding "
        "decided ask asked asking determine unsure sure doubt regardless unclear",
        unless_after="conditions forecast forecasts reports report patterns data is was and in "
        "service station stations events changes information",
    ),
    _rule("weather → whether", after="or", after_next="not"),
    _rule(
        "whether → weather",
        before="bad cold hot warm rainy stormy nice severe wet dry sunny winter summer beautiful",
    ),
    _rule(
        "whether → weather",
        after="forecast forecasts conditions report reports station service patterns map",
    ),
    _rule(
        "were → where",
        before="place point area situation case house room city town country "
        "location region spot directory page position moment know knew exactly remember "
        "everywhere anywhere somewhere is that's",
        after="you we they he she i",
    ),
    _rule(
        "quiet → quite",
        after="often sure different well difficult similar possible likely "
        "literally possibly frankly obviously easily recently honestly expensive common useful "
        "interesting few",
    ),
    _rule(
        "quiet → quite",
        after="a an",
        unless_after_next="while moment minute little second long life place",
    ),
    _rule(
        "quite → quiet",
        before="be keep stay kept remain remained stayed very",
        after="END and while when for during until about please",
    ),
    _rule(
        "by → buy",
        before="i'll we'll you'll let's please can't cannot couldn't",
        after="a an the some it them new more any your my this something",
    ),
    _rule("by → buy", before="to", after="groceries tickets milk bread clothes food"),
    _rule(
        "buy → by",
        before="written made done caused followed used given created produced "
        "provided supported published directed signed surrounded replaced played driven owned "
        "painted built killed inspired accompanied affected required taken sent invented designed "
        "founded led caught",
    ),
    _rule("buy → by", before="_ ,", after="the", after_next="way"),
    _rule(
        "here → hear",
        before="can can't could couldn't cannot didn't",
        after="you the from that "
        "about him her them me it his your my what a anything nothing something voices music us",
    ),
    _rule("here → hear", before="to i", after="you him them your what voices music anything"),
    _rule(
        "hear → here",
        before="over right around i'm is are was were am been near live lives lived stay wait",
        after="END to for with at and in on because until before if when since",
    ),
    _rule(
        "no → know",
        before="don't didn't doesn't i you we they should would must",
        after="that how what why where who if whether about",
    ),
    _rule(
        "now → know",
        before="don't didn't doesn't wouldn't shouldn't",
        after="that how what why where who if whether about the him her them it anything",
    ),
    _rule("know → now", before="until till by right"),
    _rule(
        "new → knew",
        before="i he she they we who never always already nobody everyone everybody",
        after="that it how what him her them where why about nothing he she they exactly i you",
    ),
    _rule("knew → new", before="a the brand my our your whole its every"),
    _rule(
        "site → cite",
        before=_MODAL + " not",
        after="sources references evidence examples any studies articles papers",
    ),
    _rule("cite → site", before="web construction building camp job camping historic the this our"),
    _rule("sight → site", before="web construction building job landing"),
    _rule("site → sight", before="lost lose losing catch caught", after="of"),
    _rule("site → sight", before="plain"),
    _rule("break → brake", after="pads pad pedal pedals fluid discs shoes lever"),
    _rule("brake → break", after="down into up out through free even away apart"),
    _rule("brake → break", before="coffee lunch tea spring christmas summer commercial"),
    _rule(
        "brake → break",
        after="the his her your my a their",
        after_next="law laws rule rules ice "
        "habit news record records silence glass promise window bank spell bread heart cycle",
    ),
    _rule(
        "complementary → complimentary",
        after="breakfast drinks drink ticket tickets copy copies coffee upgrade",
    ),
    _rule(
        "complimentary → complementary",
        after="colors colours angles strand strands skills approach approaches roles to",
    ),
    _rule(
        "complement → compliment",
        before="nice kind great backhanded huge lovely",
        unless_after="to of",
    ),
    _rule("stationary → stationery", after="shop store cupboard supplies"),
    _rule("stationary → stationery", before="office personalised wedding"),
    _rule(
        "stationery → stationary",
        before="remained remain remains completely perfectly almost nearly stayed",
    ),
    _rule("formally → formerly", after="known", after_next="as"),
    _rule("formally → formerly", before="was is been who", after="a an the"),
    _rule("counsel → council", before="city town county student parish district borough village"),
    _rule("council → counsel", before="legal defense wise"),
    _rule(
        "mourning → morning",
        before="this good tomorrow every next yesterday sunday monday "
        "tuesday wednesday thursday friday saturday early",
    ),
    _rule("morning → mourning", before="in", after="for over"),
    _rule(
        "personal → personnel",
        before="military medical police security trained army hospital "
        "maintenance qualified technical",
        after="END were are who in and have to is from on at",
    ),
    _rule(
        "personnel → personal",
        after="opinion opinions life reasons experience experiences "
        "computer property belongings best responsibility growth hygiene space preference "
        "preferences trainer assistant question questions relationship relationships",
    ),
    _rule("desert → dessert", before="for", after="END and we i there she he was"),
    _rule("desert → dessert", before="chocolate favourite favorite delicious frozen"),
    _rule("dessert → desert", before="sahara gobi mojave arabian"),
    _rule("dessert → desert", after="island sand climate"),
    _rule(
        "diary → dairy", after="products farm farms cows cow farmer farmers farming cattle industry"
    ),
    _rule("dairy → diary", after="entry entries"),
    _rule(
        "through → threw", before="he she i", after="the it him her a his me up out away them my"
    ),
    _rule(
        "threw → through",
        before="went go going came come goes walked walk way passed pass run "
        "flows drove looked looking halfway",
    ),
    _rule("thought → though", before="as", after="he she it they i we nothing"),
    _rule(
        "though → thought",
        before="i he she they we never always",
        after="that it about of you we he she they",
    ),
    _rule(
        "form → from",
        before="away far apart came comes prevent suffer suffering suffers ranging "
        "ranges derived received obtained taken removed escaped differs",
        after="the a an this that his her my our their your its one other all each home",
    ),
    _rule(
        "sea → see",
        before="can can't could couldn't will i i'll let's didn't you'll we'll",
        after=_OBJECTS + " what how if why where",
    ),
    _rule("sea → see", before="to", after="you him them what how if why where me us"),
    _rule(
        "weak → week",
        before="last next per",
        after="END and i we he she they for to in at on with the when because after before",
    ),
    _rule(
        "week → weak",
        before="very too feel feels felt feeling extremely relatively quite rather",
        unless_after="0",
    ),
    _rule("wait → weight", before="lose lost losing gain gained gaining body birth molecular"),
    _rule(
        "weight → wait",
        before="can't cannot couldn't please i'll we'll let's don't you'll",
        after="for until to here a and in till outside there",
    ),
    _rule("meet → meat", before="red raw lean eat eating eats ate cooked processed minced"),
    _rule("meat → meet", before=_MODAL, after=_OBJECTS + " with up at again someone people"),
    _rule(
        "hole → whole",
        before="the a my his our your their",
        after="day time world thing family "
        "week night life lot story year country book team house school city process class system "
        "month project range population",
    ),
    _rule(
        "write → right",
        before="that's you're he's she's they're absolutely",
        unless_after="only access protected",
    ),
    _rule(
        "right → write",
        before=_MODAL,
        after="a an",
        after_next="letter book story report song "
        "poem program paper novel essay note function script test review message paragraph "
        "sentence summary article email application",
    ),
    _rule("right → write", before=_MODAL, after="down about code letters me him poetry"),
    _rule(
        "roll → role",
        before="leading important major crucial vital central significant "
        "active pivotal supporting essential main minor dominant leadership gender primary "
        "critical fundamental starring instrumental",
    ),
    _rule("roll → role", after="model models playing"),
    _rule(
        "moral → morale",
        before="low high team staff employee boost boosted",
        after=". ; ! _ is was of has among in",
    ),
    _rule(
        "morale → moral",
        after="support values compass obligation dilemma victory standards "
        "issues principles duty authority",
    ),
    _rule("conscious → conscience", before="guilty clear bad"),
    _rule(
        "conscience → conscious",
        before="became become am is was were fully very more not still",
        after="of that",
    ),
    _rule("access → excess", before="in", after="of"),
    _rule(
        "excess → access",
        before="have gain has had easy internet give get got gives direct remote full unauthorized",
        after="to",
    ),
    _rule("adopt → adapt", before="to", after="to"),
    _rule(
        "device → devise",
        before=_MODAL,
        after="a an",
        after_next="plan scheme way method strategy system new means test solution",
    ),
    _rule("devise → device", before="a the this mobile electronic each medical your storage any"),
    _rule(
        "devises → devices", before="mobile electronic medical these those many storage other all"
    ),
    _rule("peak → peek", before="sneak"),
    _rule("peek → peak", after="hours season times performance demand traffic"),
    _rule("vein → vain", before="in", after=". ; : ! ? _"),
    _rule("vain → vein", before="similar same blood jugular portal"),
    _rule("phase → faze", before="didn't doesn't not don't never", after="him her me them us you"),
    _rule("faze → phase", before="first next this final early test the a initial each"),
    _rule("bare → bear", after="with", after_next="me us"),
    _rule("bare → bear", after="in", after_next="mind"),
    _rule("bare → bear", before="can't cannot couldn't polar teddy grizzly"),
    _rule("bear → bare", after="minimum bones necessities essentials"),
    _rule("bear → bare", before="with his her my their your", after="hands feet"),
    _rule("fair → fare", before="bus taxi cab subway"),
    _rule(
        "fare → fair",
        before="not isn't it's very be seems perfectly hardly",
        after="END and that to enough for but because",
    ),
    _rule("flour → flower", after="pots pot beds bed garden arrangement shop petals bouquet"),
    _rule("flower → flour", before="plain wheat corn rice all-purpose"),
    _rule("stake → steak", before="grilled beef sirloin salmon juicy"),
    _rule("steak → stake", before="at", after="END here in is are for when"),
    _rule("tail → tale", before="fairy cautionary"),
    _rule("tails → tales", before="fairy cautionary"),
    _rule("wander → wonder", after="if why whether how what"),
    _rule("wandering → wondering", after="if why whether how what"),
    _rule("wonder → wander", after="around aimlessly off"),
    _rule("wondering → wandering", after="around aimlessly off"),
    _rule(
        "board → bored",
        before="so very i'm you're he's she's getting really extremely easily felt feeling",
        after="END with of and to by at because in",
    ),
    _rule(
        "bored → board",
        before="cutting ironing notice bulletin advisory executive circuit school chess",
    ),
    _rule("bored → board", after="game games meeting meetings member members"),
    _rule("pear → pair", before="a new this the every each another my", after="of"),
    _rule(
        "aloud → allowed",
        before="not are is be was were isn't aren't been being am i'm you're we're they're",
        after="to into inside",
    ),
    _rule("allowed → aloud", before="read reading think thinking laughed wondered cried"),
    _rule("coarse → course", before="of", after="END i he we you they not it she the"),
    _rule("coarse → course", before="golf crash training online language university"),
    _rule(
        "course → coarse",
        after="sand salt gravel hair texture fabric cloth",
        unless_before="of golf",
    ),
    _rule("scene → seen", before="have had i've we've they've you've been never ever"),
    _rule("presents → presence", before="the", after="of"),
    _rule(
        "residence → residents",
        before="local elderly many most all",
        after="of are were who have in",
    ),
    _rule("assistants → assistance", before="financial further immediate humanitarian mutual"),
    _rule("borne → born", before="was were is are been", after="in", after_next="0"),
    _rule("born → borne", after="out", after_next="by"),
    _rule(
        "alter → altar",
        before="the high stone",
        after="of in and was at . ,",
        unless_after="ego egos",
    ),
    _rule("altar → alter", before=_MODAL + " not", after=_OBJECTS),
    _rule("angle → angel", before="guardian"),
    _rule("angel → angle", before="acute obtuse wide camera viewing contact"),
    _rule("cereal → serial", after="number numbers killer killers port ports interface console"),
    _rule("serial → cereal", before="breakfast"),
    _rule(
        "soul → sole",
        after="purpose reason proprietor survivor responsibility owner heir discretion custody",
    ),
    _rule("root → route", before="bus shortest fastest escape alternate scenic en"),
    _rule("route → root", after="cause causes canal vegetables"),
    _rule("route → root", before="square cube"),
    _rule(
        "steel → steal",
        before=_MODAL,
        after="money cars it things data information passwords something anything food",
    ),
    _rule("steal → steel", before="stainless carbon mild structural"),
    _rule("steal → steel", after="beams plates pipes mill industry wire bars cable rods"),
    _rule("tow → toe", after="the", after_next="line"),
    _rule("toe → tow", after="truck trucks"),
    _rule("waive → wave", after="goodbye hello"),
    _rule(
        "wave → waive",
        after="the any all your his their",
        after_next="fee fees rights right requirement charges",
    ),
    _rule("reign → rein", before="free", unless_after="of"),
    _rule("mute → moot", after="point points"),
    _rule("baited → bated", after="breath"),
    _rule(
        "one → won", before="he she they", after="the a first gold silver his her second an several"
    ),
    _rule(
        "of → off",
        before="turned switched logged dozed nodded jumped dropped shut went fell drove kicked",
        after="the my your his her it to and at a on in when their",
    ),
    _rule(
        "off → of",
        before="lot lots number instead because couple cup spite plenty type none "
        "majority middle hundreds thousands capable afraid aware proud member amount kind sort "
        "rest",
        after="the a my your his her their our them it us this that these those people "
        "its all being an",
    ),
    _rule("quit → quite", after="a", after_next="few lot bit"),
    _rule("quit → quite", after="often sure different well difficult similar possible likely good"),
    _rule("apart → a part", before="is was be are as being become been feel", after="of"),
    _rule(
        "everyday → every day", after=". ! ? ; _", unless_before="the our my an of in your their"
    ),
    _rule("anyway → any way", before="in", after="END to that possible related connected"),
    _rule("seams → seems", before="it that this he she", after="like to that"),
    _rule("seam → seem", after="like to", before="doesn't don't didn't may might would not"),
    _rule("fourth → forth", before="and", after=". ; between across"),
    _rule(
        "forth → fourth",
        before="the his her its",
        after="quarter grade floor time place day year century amendment",
    ),
    _rule("censor → sensor", before="motion temperature light pressure proximity"),
    _rule("elicit → illicit", after="drugs drug affair trade activities substances"),
    _rule("illicit → elicit", before=_MODAL, after=_OBJECTS + " response responses"),
    _rule("eminent → imminent", after="danger threat attack collapse"),
    _rule("incite → insight", before="an valuable deep great provide provides gain"),
    _rule("insight → incite", before=_MODAL, after="violence hatred riots fear"),
    _rule("lightening → lightning", after="bolt bolts strike strikes rod rods storm storms struck"),
    _rule("metal → medal", before="gold silver bronze", after="in at for winner winners"),
    _rule("navel → naval", after="base officer officers forces battle academy fleet"),
    _rule("peddle → pedal", before="gas brake bike bicycle accelerator"),
    _rule(
        "perspective → prospective",
        after="buyers buyer students employers employer customers clients",
    ),
    _rule("prospective → perspective", before="historical broader fresh my"),
    _rule("resent → recent", after="years months study studies research times events weeks"),
    _rule("respectfully → respectively", before=",", after=". ; _"),
    _rule(
        "respectively → respectfully", before="i must", after="disagree request submit ask decline"
    ),
    _rule("statue → statute", after="of", after_next="limitations"),
    _rule("statute → statue", after="of", after_next="liberty"),
    _rule(
        "through → thorough",
        before="a very more",
        after="investigation examination review analysis understanding cleaning search study "
        "inspection knowledge",
    ),
    _rule(
        "thorough → through", before="went go going walked passed came get", after="the a it his my"
    ),
    _rule("waist → waste", after="of", after_next="time money space energy resources"),
    _rule("waste → waist", before="slim tiny narrow"),
    _rule("yoke → yolk", before="egg"),
    _rule("currant → current", before="the a our", after="state version price situation"),
    _rule("dyeing → dying", before="was is are were of she he", after="of from in for"),
    _rule("fowl → foul", after="play language mouth weather smell"),
    _rule("gorilla → guerrilla", after="warfare war marketing tactics fighters"),
    _rule("knight → night", before="last every all tomorrow friday saturday"),
    _rule("loan → lone", after="wolf survivor ranger gunman"),
    _rule(
        "maid → made",
        before="was were is been has have had he she they i",
        after="of by in to from a the",
    ),
    _rule("mane → main", after="reason point problem goal idea thing road street"),
    _rule("plane → plain", after="english text language sight"),
    _rule("plain → plane", after="ticket tickets crash crashes"),
    _rule("pray → prey", before="fall falls fell easy"),
    _rule("prey → pray", before=_MODAL, after="for to that"),
    _rule("rode → road", before="main dirt gravel country"),
    _rule("son → sun", before="hot rising setting midday"),
    _rule("sun → son", before="eldest youngest oldest"),
    _rule("sail → sale", before="garage yard"),
    _rule("sail → sale", before="for", after=". , ! ? _"),
    _rule(
        "throne → thrown",
        before="was were been be being is are",
        after="into out away at in by off",
    ),
    _rule(
        "were → wear",
        before=_MODAL,
        after="a the my your his her glasses clothes shoes helmets masks",
    ),
    _rule("wood → would", before="i he she they we you it that", after="be have like not never"),
    _rule(
        "witch → which",
        before=", of in for from to on with",
        after="is was are were the i we he she they can will has have",
    ),
    _rule("soar → sore", after="throat throats loser muscles"),
    _rule("peaked → piqued", after="my his her their your our", after_next="interest curiosity"),
    _rule("trail → trial", before="fair murder clinical jury criminal free"),
    _rule("trial → trail", before="hiking nature bike appalachian walking"),
    _rule("bought → brought", before="was were been has have had it", after="about"),
    _rule("diffuse → defuse", after="the a", after_next="bomb situation tension"),
    _rule(
        "discreet → discrete",
        after="mathematics values variable variables event events fourier cosine components",
    ),
    _rule("pole → poll", before="opinion exit gallup"),
    _rule("poll → pole", before="north south flag telephone fishing tent"),
    _rule("were → we're", before="_ because", after="going", after_next="to"),
    _rule("well → we'll", before="_ hope think", after="be see have need take meet discuss"),
    _rule("ill → i'll", before="_ and but so", after="be see have go get take call let try"),
    _rule("wont → won't", before="i he she it they we you this that", after=_BARE_VERBS + " have"),
    _rule("cant → can't", before="i he she it they we you this that", after=_BARE_VERBS + " have"),
)
RULES: tuple[Rule, ...] = _STRICT_RULES + _COMMON_RULES
