"""A small valid file of every format that can be read, with all elements of the format."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Mapping

import spacy
from spacy.tokens import Doc, DocBin, Span

TEXT = (
    "SHC binds to GRB2 and Sos1. The α-chain of IL-2R does not.\n\nMethods: cells (HeLa) were used."
)

JSON_LINES = "\n".join(
    json.dumps(row)
    for row in (
        {
            "id": "d1",
            "text": TEXT,
            "entities": [[0, 3, "protein"], {"id": "x", "label": "protein", "pieces": [[13, 17]]}],
            "relations": [{"entities": ["T1", "x"], "label": True, "type": "bind"}],
            "sentences": [0, 28],
            "concepts": {"T1": "EG:1"},
            "year": 2001,
        },
        {"id": "d2", "text": "Raf and MEK1.", "entities": []},
        {"text": "No id here, p53."},
    )
).encode()

BIOC_JSON = json.dumps(
    {
        "source": "s",
        "documents": [
            {
                "id": "1",
                "infons": {},
                "passages": [
                    {
                        "offset": 0,
                        "text": "SHC binds GRB2.",
                        "annotations": [
                            {"id": "T1", "infons": {"type": "Gene", "identifier": "7"},
                             "text": "SHC", "locations": [{"offset": 0, "length": 3}]},
                            {"id": "T2", "infons": {"type": "Gene"},
                             "text": "GRB2", "locations": [{"offset": 10, "length": 4}]},
                        ],
                        "sentences": [],
                    },
                    {"offset": 16, "sentences": [{"offset": 16, "text": "Raf too."}]},
                ],
                "relations": [
                    {"id": "R1", "infons": {"type": "x", "label": "true"},
                     "nodes": [{"refid": "T1", "role": "Arg1"}, {"refid": "T2", "role": "Arg2"}]}
                ],
            }
        ],
    },
    indent=1,
).encode()  # fmt: skip

BIOC_XML = b"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "BioC.dtd">
<collection><source>s</source><date></date><key></key>
<document><id>1</id><infon key="a">b</infon>
<passage><offset>0</offset><text>SHC binds GRB2.</text>
<annotation id="T1"><infon key="type">Gene</infon><location offset="0" length="3"/><text>SHC</text></annotation>
<annotation id="T2"><infon key="type">Gene</infon><location offset="10" length="4"/><text>GRB2</text></annotation>
</passage><passage><offset>16</offset><sentence><offset>16</offset><text>Raf too.</text></sentence></passage>
<relation id="R1"><infon key="type">x</infon><node refid="T1" role="Arg1"/><node refid="T2" role="Arg2"/></relation>
</document></collection>
"""

PUBTATOR = b"""1|t|SHC binds GRB2.
1|a|Raf and p53 do not.
1\t0\t3\tSHC\tGene\t7
1\t10\t14\tGRB2\tGene\t8
1\tBind\t7\t8

2|t|Another
2|a|Text of IL-2.
"""

CONLLU = b"""# newdoc id = d1
# sent_id = d1-1
# text = SHC binds GRB2.
1\tSHC\tshc\tPROPN\tNN\tNumber=Sing\t2\tnsubj\t_\t_
2\tbinds\tbind\tVERB\tVBZ\t_\t0\troot\t_\t_
3-4\tGRB2.\t_\t_\t_\t_\t_\t_\t_\t_
3\tGRB2\tgrb2\tPROPN\tNN\t_\t2\tobj\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

# sent_id = d1-2
# parse = gold
# score = 1.5
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_
1.1\tx\tx\t_\t_\t_\t_\t_\t_\t_

# sent_id = d1-2
# parse = other
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_

"""

PPI_XML = b"""<corpus source="tiny"><document id="d1" origId="7"><sentence id="d1.s0" text="SHC binds GRB2">
<entity id="e0" charOffset="0-2" type="protein" text="SHC" /><entity id="e1" charOffset="10-11,13-13" text="GR 2" />
<pair id="p0" e1="e0" e2="e1" interaction="True" />
<sentenceanalyses><parses><parse parser="p" tokenizer="split">
<dependency id="1" t1="t1" t2="t0" type="nsubj" /><dependency id="2" t1="t1" t2="t2" type="dobj" /></parse></parses>
<tokenizations><tokenization tokenizer="split"><token id="t0" charOffset="0-2" POS="NN" text="SHC" />
<token id="t1" charOffset="4-8" POS="VB" text="binds" /><token id="t2" charOffset="10-13" POS="NN" text="GRB2" />
</tokenization></tokenizations></sentenceanalyses></sentence></document>
<document id="d2"><sentence id="d2.s0" text="Raf sees MEK"><entity id="f0" charOffset="0-2" />
<entity id="f1" charOffset="9-11" /><pair id="p1" e1="f0" e2="f1" interaction="False" /></sentence></document></corpus>
"""

ANN = b"""T1\tProtein 0 3\tSHC
T2\tProtein 13 15;16 17\tGR 2
R1\tBind Arg1:T1 Arg2:T2
E1\tBinding:T1 Theme:T2
*\tEquiv T1 T2
A1\tNegation E1
N1\tReference T1 EG:7
#1\tAnnotatorNotes T1\ta note
"""

SENSEVAL = b"""<corpus lang='english'><lexelt item="line-n"><instance id="i1"><answer instance="i1" senseid="cord"/>
<context><s><wf pos="DT">The</wf> <head><wf pos="NN">line</wf></head> <wf pos="VBZ">holds</wf></s><s><wf pos="PRP">It</wf></s></context></instance>
</lexelt></corpus>
"""

PUBMED = b"""<?xml version="1.0"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "https://dtd.nlm.nih.gov/x.dtd">
<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID Version="1">7</PMID><Article>
<Journal><JournalIssue><PubDate><Year>2001</Year></PubDate></JournalIssue><Title>J</Title></Journal>
<ArticleTitle>On <i>p53</i>.</ArticleTitle><Abstract><AbstractText Label="AIM">SHC binds.</AbstractText>
<AbstractText>GRB2 <sup>2+</sup> too.</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID Version="1">8</PMID><Article><Journal><JournalIssue><PubDate>
<MedlineDate>1998 Spring</MedlineDate></PubDate></JournalIssue></Journal><ArticleTitle>Raf.</ArticleTitle>
</Article></MedlineCitation></PubmedArticle><DeleteCitation><PMID Version="1">9</PMID></DeleteCitation>
</PubmedArticleSet>
"""

JATS = b"""<article><front><journal-meta><journal-title-group><journal-title>J</journal-title>
</journal-title-group></journal-meta><article-meta><article-id pub-id-type="pmid">7</article-id>
<title-group><article-title>On <italic>p53</italic></article-title></title-group><pub-date><year>2001</year>
</pub-date><abstract><sec><title>Aim</title><p>SHC binds.</p></sec></abstract></article-meta></front>
<body><sec><title>Results</title><p>GRB2 <xref>1</xref> binds SHC<sup>2</sup>.</p><fig><caption><p>Raf.</p>
</caption></fig><table-wrap><table><tr><td>A</td></tr></table></table-wrap></sec></body></article>
"""

MEDLINE = b"""PMID- 12
TI  - A title that
      goes on.
DP  - 1999 Jan
AB  - p53
      binds MDM2.
JT  - J Tests

PMID- 13
TI  - Two.
"""

CSV = b"""id,title,abstract,year,who
d1,One,"p53 binds,
surely ""so"".",2003,me
d2,Two,Raf.,,you
"""

HTML = b"""<!DOCTYPE html><html><head><title>Page</title><style>p{}</style></head><body>
<script>var p53;</script><h1>p53</h1><p>It binds&nbsp;<b>MDM2</b><br>well.</p><ul><li>a<li>b</ul>
<table><tr><td>A</td><td>B</td></tr></table><!-- not this --></body></html>
"""

LETOR = b"""2 qid:1 1:0.5 2:0.25 # docid = d1
0 qid:1 1:0.1 2:1e-3
1 qid:2 1:-3 7:0 # docid = d2
"""

REUTERS = b"""<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="x" OLDID="1" NEWID="1"><DATE>1</DATE>
<TOPICS><D>grain</D><D>wheat</D></TOPICS><TEXT><TITLE>WHEAT &lt;X></TITLE><BODY>It rose.&#3;</BODY></TEXT>
</REUTERS><REUTERS TOPICS="NO" LEWISSPLIT="TEST" NEWID="2"><TOPICS></TOPICS><TEXT TYPE="BRIEF">Two.</TEXT></REUTERS>
"""

BIONLP = {
    "PMC-7-01.txt": b"Loss of A1 activates B2. A1 does not bind C3.",
    "PMC-7-01.a1": b"T1\tProtein 8 10\tA1\nT2\tProtein 21 23\tB2\nT3\tProtein 25 27\tA1\nT4\tProtein 42 44\tC3\n",
    "PMC-7-01.a2": b"T8\tNegative_regulation 0 4\tLoss\nT9\tPositive_regulation 11 20\tactivates\n"
    b"T10\tBinding 37 41\tbind\n*\tEquiv T1 T3\nE1\tNegative_regulation:T8 Theme:T1\n"
    b"E2\tPositive_regulation:T9 Theme:T2 Cause:E1\nE3\tBinding:T10 Theme:T3 Theme2:T4\nM1\tNegation E3\n",
}

CORPUS_CFG = b"""[corpus]
@readers = "json_lines.v1"
path = "corpus.jsonl"
cut = true
limit = 100000
"""


def doc_bin() -> bytes:
    """Return a DocBin of two Docs with spans, gold relations and a parse."""
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=["SHC", "binds", "GRB2"], heads=[1, 1, 1], deps=["a", "ROOT", "b"])
    doc.spans["entities"] = [Span(doc, 0, 1, label="p", span_id="e0"), Span(doc, 2, 3, label="p")]
    doc.user_data |= {"document": "d1", "gold": [{"entities": ["e0", "e1"], "label": True}]}
    other = Doc(vocab, words=["Raf", "MEK"], sent_starts=[True, False])
    return bytes(DocBin(store_user_data=True, docs=[doc, other]).to_bytes())


def zipped(name: str, data: bytes) -> bytes:
    """Return a zip archive of one file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return buffer.getvalue()


def tarred(entries: Mapping[str, bytes]) -> bytes:
    """Return a tar archive of files."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in entries.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def files() -> Mapping[str, bytes]:
    """Return the samples by a typical file name."""
    return {
        "a.txt": TEXT.encode(),
        "a.jsonl": JSON_LINES,
        "a.jsonl.gz": gzip.compress(JSON_LINES),
        "a.json": BIOC_JSON,
        "a.bioc.xml": BIOC_XML,
        "a.pubtator": PUBTATOR,
        "a.conllu": CONLLU,
        "a.xml": PPI_XML,
        "a.xml.gz": gzip.compress(PPI_XML),
        "a.spacy": doc_bin(),
        "a.ann": ANN,
        "a.pos": SENSEVAL,
        "a.zip": zipped("line.pos", SENSEVAL),
        "pubmed.xml": PUBMED,
        "a.nxml": JATS,
        "a.nbib": MEDLINE,
        "a.csv": CSV,
        "a.html": HTML,
        "a.letor": LETOR,
        "a.sgm": REUTERS,
        "a.tar": tarred(BIONLP),
        "a.a2": BIONLP["PMC-7-01.a2"],
        "corpus.cfg": CORPUS_CFG,
    }
