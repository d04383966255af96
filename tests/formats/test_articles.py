"""PubMed XML, MEDLINE, JATS, HTML, CSV and TSV: small files of our own, with their traps."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest
import spacy

from textrank.formats.columns import Columns, write_names, write_pairs
from textrank.formats.detection import detect_format, reader_for
from textrank.formats.pubmed import HTML, JATS, Medline, PubMedXML

NLP = spacy.blank("en")
ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article>
<Journal><JournalIssue><PubDate>{date}</PubDate></JournalIssue><Title>J Tests</Title></Journal>
<ArticleTitle>{title}</ArticleTitle>{abstract}</Article>
<OtherAbstract Language="fre"><AbstractText>Le texte.</AbstractText></OtherAbstract>
</MedlineCitation></PubmedArticle>"""
DOCTYPE = '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "https://dtd.nlm.nih.gov/x.dtd">'


def article(pmid="1", title="A title.", abstract="", date="<Year>2001</Year>"):
    if abstract:
        abstract = f"<Abstract>{abstract}</Abstract>"
    return ARTICLE.format(pmid=pmid, title=title, abstract=abstract, date=date)


def pubmed(tmp_path, *articles, name="a.xml"):
    text = f"<?xml version='1.0'?>{DOCTYPE}<PubmedArticleSet>{''.join(articles)}</PubmedArticleSet>"
    path = tmp_path / name
    data = text.encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def docs(reader):
    return list(reader(NLP))


def test_text_inside_markup_is_kept_and_parts_are_lines_with_their_labels(tmp_path):
    abstract = (
        '<AbstractText Label="BACKGROUND">p<sub>53</sub> binds <i>MDM<b>2</b></i>.</AbstractText>'
        '<AbstractText Label="RESULTS">Ca<sup>2+</sup> rose '
        "<mml:math xmlns:mml='http://www.w3.org/1998/Math/MathML'><mml:mi>x</mml:mi></mml:math>"
        " fold."
        "</AbstractText><CopyrightInformation>Ours.</CopyrightInformation>"
    )
    title = "Role of <i>TP53</i> in <sup>32</sup>P."
    (doc,) = docs(PubMedXML(str(pubmed(tmp_path, article(title=title, abstract=abstract)))))
    assert doc.text == (
        "Role of TP53 in 32P.\nBACKGROUND: p53 binds MDM2.\nRESULTS: Ca2+ rose x fold."
    )
    assert doc.user_data["document"] == "1"
    assert doc.user_data["title"] == "Role of TP53 in 32P."
    assert doc.user_data["year"] == 2001
    assert doc.user_data["journal"] == "J Tests"
    assert [s.text.strip().split()[0].strip(":") for s in doc.sents] == [
        "Role",
        "BACKGROUND",
        "RESULTS",
    ]


def test_the_last_version_counts_and_deleted_ones_do_not(tmp_path):
    deleted = "<DeleteCitation><PMID Version='1'>2</PMID></DeleteCitation>"
    path = pubmed(
        tmp_path, article("1", "Old."), article("2", "Gone."), article("1", "New."), deleted
    )
    assert [doc.text for doc in docs(PubMedXML(str(path)))] == ["New."]


def test_a_missing_abstract_and_a_season_as_date(tmp_path):
    date = "<MedlineDate>1998 Spring</MedlineDate>"
    (doc,) = docs(PubMedXML(str(pubmed(tmp_path, article(date=date), name="a.xml.gz"))))
    assert (doc.text, doc.user_data["year"]) == ("A title.", 1998)


def test_an_article_without_pmid_is_named(tmp_path):
    path = pubmed(tmp_path, article("1"), article(""))
    with pytest.raises(ValueError, match=r"a\.xml, article 2: no PMID"):
        docs(PubMedXML(str(path)))
    with pytest.warns(UserWarning, match=r"1 documents skipped, the first: .*article 2: no PMID"):
        (doc,) = docs(PubMedXML(str(path), skip_bad=True))
    assert doc.user_data["document"] == "1"


def test_a_truncated_file_is_named_with_its_place(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text("<PubmedArticleSet><PubmedArticle>")
    with pytest.raises(ValueError, match=r"a\.xml, line 1.*truncated"):
        docs(PubMedXML(str(path)))


def test_a_large_file_takes_constant_memory(tmp_path):
    def peak(count):
        abstract = f"<AbstractText>{'p53 binds MDM2. ' * 200}</AbstractText>"
        path = pubmed(tmp_path, *(article(str(n), abstract=abstract) for n in range(count)))
        tracemalloc.start()
        for _ in PubMedXML(str(path))._articles():
            pass
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    assert peak(800) < 2 * peak(200)


JATS_FILE = """<article><front><journal-meta><journal-title-group><journal-title>J Full
</journal-title></journal-title-group></journal-meta><article-meta>
<article-id pub-id-type="pmid">7</article-id><article-id pub-id-type="pmc">99</article-id>
<title-group><article-title>The <italic>TP53</italic> story</article-title></title-group>
<pub-date><year>2010</year></pub-date>
<abstract><sec><title>Aim</title><p>To see.</p></sec></abstract></article-meta></front>
<body><sec><title>Results</title><p>p53 binds MDM2 <xref ref-type="bibr">12</xref>.
<fig><label>Figure 1</label><caption><title>Gel.</title><p>Lanes of p53.</p></caption></fig></p>
<table-wrap><caption><p>All genes.</p></caption><table><tr><td>XYZ1</td></tr></table></table-wrap>
<list><list-item><p>First item</p></list-item></list></sec></body>
<back><ref-list><ref><mixed-citation>Smith, ABC1 paper</mixed-citation></ref></ref-list></back>
</article>"""


def test_jats_has_sections_and_captions_but_no_references(tmp_path):
    path = tmp_path / "a.nxml"
    path.write_text(JATS_FILE)
    (doc,) = docs(reader_for(path))
    assert doc.text.split("\n") == [
        "The TP53 story", "Aim", "To see.", "Results", "p53 binds MDM2 .", "Gel.",
        "Lanes of p53.", "All genes.", "First item",
    ]  # fmt: skip
    assert doc.user_data["document"] == "PMC99"
    assert doc.user_data["year"] == 2010
    sections = doc.user_data["sections"]
    assert [doc.text[start:].split("\n")[0] for _, start in sections] == ["Aim", "Results"]


@pytest.mark.parametrize(
    ("ids", "document"),
    [
        ({"pmid": "7", "pmcid": "99"}, "PMC99"),
        ({"pmc": "98", "pmcid": "PMC99"}, "PMC99"),
        ({"pmid": "7"}, "7"),
    ],
)
def test_the_id_of_an_article_in_pmc_has_its_prefix(tmp_path, ids, document):
    rows = "".join(
        f'<article-id pub-id-type="{name}">{value}</article-id>' for name, value in ids.items()
    )
    path = tmp_path / "a.nxml"
    path.write_text(
        f"<article><front><article-meta>{rows}<title-group><article-title>On p53."
        "</article-title></title-group></article-meta></front></article>"
    )
    (doc,) = docs(reader_for(path))
    assert doc.user_data["document"] == document


def test_jats_without_meta_is_named(tmp_path):
    path = tmp_path / "a.xml"
    path.write_text("<article><body/></article>")
    assert detect_format(path) == "jats"
    with pytest.raises(ValueError, match="article 1: no front"):
        docs(JATS(str(path)))


def test_medline_lines(tmp_path):
    path = tmp_path / "a.nbib"
    path.write_text(
        "PMID- 12\nTI  - A title that\n      goes on.\nDP  - 1999 Jan\nAB  - p53\n      binds.\n"
        "JT  - J Tests\n\nPMID- 13\nTI  - Two.\n"
    )
    one, two = docs(reader_for(path))
    assert one.text == "A title that goes on.\np53 binds."
    assert (one.user_data["document"], one.user_data["year"]) == ("12", 1999)
    assert two.text == "Two."


@pytest.mark.parametrize(
    ("text", "message"), [("TI  - x\n", "without PMID"), ("PMID- 1\nrubbish\n", "line 2: no tag")]
)
def test_broken_medline_is_named(tmp_path, text, message):
    path = tmp_path / "a.nbib"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        docs(Medline(str(path)))


def test_html_as_a_reader_sees_it(tmp_path):
    path = tmp_path / "a.html"
    path.write_text(
        "<!DOCTYPE html><html><head><title>Page</title><style>p{}</style></head><body>"
        "<script>var p53;</script><h1>p53</h1><p>It binds&nbsp;<b>MDM2</b><br>well.</p>"
        "<table><tr><td>A</td><td>B</td></tr></table></body></html>"
    )
    (doc,) = docs(HTML(str(path)))
    assert doc.text == "p53\n\nIt binds MDM2 well.\n\nA B"
    assert doc.user_data["title"] == "Page"
    assert detect_format(path) == "html"


def test_columns_by_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,title,abstract,year,who\nd1,One,"p53 binds,\nsurely.",2003,me\n')
    (doc,) = docs(reader_for(path))
    assert doc.text == "One\np53 binds,\nsurely."
    assert doc.user_data["document"] == "d1"
    assert doc.user_data["year"] == 2003
    assert doc.user_data["meta"] == {"who": "me"}


def test_columns_of_other_names_and_tabs(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("key\tbody\nx\tp53 binds\n")
    (doc,) = docs(Columns(str(path), text=("body",), id="key"))
    assert (doc.text, doc.user_data["document"]) == ("p53 binds", "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "line 1: no column 'text' among a, b"),
        ("id,text\n1,2,3\n", "line 2: 3 cells, but 2 columns"),
        ("id,text\n1,\n", "line 2: no text"),
    ],
)
def test_broken_columns_are_named(tmp_path, text, message):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        docs(Columns(str(path)))


def test_names_and_pairs_as_tables(tmp_path, make_doc):
    doc = make_doc(["p53", "binds", "MDM2"], entities=[(0, 1), (2, 3)])
    from textrank.tasks.ppi.task import PPI  # the task registers where its rows go

    task = PPI()
    pair = {
        "names": ["p53", "MDM2"], "spans": [[0, 3], [10, 14]],
        "identifiers": [None, "ncbigene:4193"], "interacts": True, "probability": 0.9,
        "sentence": "p53\nbinds MDM2",
    }  # fmt: skip
    doc._.set(f"textrank_{task.name}", [pair])
    write_names([doc], str(tmp_path / "names.tsv"))
    write_pairs([doc], str(tmp_path / "pairs.csv"))
    assert (tmp_path / "names.tsv").read_text().splitlines() == [
        "document\tstart\tend\tname\tlabel\tid", "d0\t0\t3\tp53\tprotein\t",
        "d0\t10\t14\tMDM2\tprotein\t",
    ]  # fmt: skip
    head, row = (tmp_path / "pairs.csv").read_text().splitlines()
    found = dict(zip(head.split(","), row.split(","), strict=True))
    assert found["id_b"] == "ncbigene:4193"
    assert found["sentence"] == "p53 binds MDM2"
