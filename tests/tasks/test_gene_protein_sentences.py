"""Gene, protein or RNA in sentences that neither the abstracts nor the recipe's grammar has."""

from __future__ import annotations

import pytest

import textrank

DNA = """
Exon 7 of {} was deleted in the tumour.
The {} locus lies on the long arm of chromosome 3.
A polymorphism in the promoter of {} was associated with disease.
Carriers of a germline mutation in {} were followed for ten years.
Loss of heterozygosity at {} was seen in nine tumours.
We sequenced all coding exons of {} in 40 families.
The {} promoter was cloned upstream of luciferase.
{} maps to the short arm of chromosome 17.
Amplification of {} was detected by Southern blotting.
Hypermethylation of the {} promoter silenced expression.
The first intron of {} contains an enhancer.
Homozygous deletion of {} is common in glioma.
The human {} gene consists of ten exons.
A frameshift mutation in {} causes the syndrome.
Mice carrying one null allele of {} were crossed.
Three single nucleotide polymorphisms in {} were genotyped.
The {} gene cluster spans 40 kb.
The factor binds to the enhancer of {} in vitro.
Targeted disruption of the {} gene was lethal.
The translocation places {} under the control of the immunoglobulin enhancer.
"""
RNA = """
{} messenger RNA was abundant in liver.
Transcripts for {} were found in all tissues.
Northern blots revealed high levels of {} transcripts.
The half-life of {} mRNA was two hours.
Antisense oligonucleotides hybridised with {} mRNA.
Polyadenylated {} RNA was isolated from brain.
A probe specific for {} mRNA was used.
Two splice variants of the {} transcript were observed.
The amount of mRNA for {} fell by half.
Steady-state {} mRNA levels doubled.
The 3' untranslated region of {} mRNA contains AU-rich elements.
RT-PCR showed that {} mRNA was absent.
{} transcripts accumulated in the embryo.
In situ hybridisation localised {} mRNA to neurons.
The microRNA reduces the stability of {} mRNA.
A 2.4-kb {} transcript was expressed in testis.
"""
PROTEIN = """
{} was immunoprecipitated with a monoclonal antibody.
Secreted {} was measured by ELISA.
Antibodies against {} stained the membrane.
{} phosphorylates several substrates.
The SH2 domain of {} is required for binding.
Ubiquitinated {} is degraded by the proteasome.
Serum concentrations of {} were raised in patients.
{} forms a heterodimer in the cytoplasm.
The crystal structure of {} was solved.
Cleavage of {} by caspases was blocked.
Cells were treated with recombinant human {} for one day.
{} translocates to the nucleus after stimulation.
The C terminus of {} interacts with actin.
Tyrosine phosphorylation of {} was transient.
{} is a serine/threonine kinase.
{}, a membrane protein, binds calcium.
The kinase activity of {} was inhibited.
Western blotting with anti-{} antibodies showed one band.
Surface expression of {} on T cells was reduced.
Purified {} bound to heparin.
Dimerisation of {} requires zinc.
Glycosylated {} was resistant to trypsin.
"""
NAMES = [
    "BRCA2",
    "PAX6",
    "interleukin-8",
    "SMAD4",
    "Ets-2",
    "MDR1",
    "thrombopoietin",
    "HSP70",
    "VEGF",
    "FOXP3",
]


@pytest.fixture(scope="module")
def nlp():
    made = textrank.load_nlp(only=["kinds"])
    made.add_pipe("textrank_gene_protein")
    return made


@pytest.mark.parametrize(
    ("kind", "lines", "least"),
    [("DNA", DNA, 0.88), ("RNA", RNA, 0.95), ("protein", PROTEIN, 0.93)],
)
def test_what_stands_beside_a_name_tells_its_kind(nlp, kind: str, lines: str, least: float) -> None:
    asked = [
        (line.replace("{}", NAMES[(number + more) % len(NAMES)]), line.index("{}"))
        for number, line in enumerate(lines.strip().split("\n"))
        for more in range(2)
    ]
    right = 0
    for (_, start), doc in zip(asked, nlp.pipe(text for text, _ in asked), strict=True):
        rows = [r for r in doc._.textrank_gene_protein if r["span"][0] <= start < r["span"][1]]
        right += [row["label"] for row in rows] == [kind]
    assert right / len(asked) >= least, f"{right} of {len(asked)}"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The level of HSP70 mRNA rose.", "RNA"),
        ("A mutation in the HSP70 gene was found.", "DNA"),
    ],
)
def test_names_may_be_given_with_or_without_the_word_that_tells(nlp, text: str, kind: str) -> None:
    start = text.index("HSP70")
    for words in (1, 2):
        end = start + len(" ".join(text[start:].split()[:words]))
        doc = nlp.make_doc(text)
        doc.spans["entities"] = [doc.char_span(start, end, label="GENE")]
        nlp.get_pipe("sentences")(doc)
        (row,) = nlp.get_pipe("textrank_gene_protein")(doc)._.textrank_gene_protein
        assert row["label"] == kind
