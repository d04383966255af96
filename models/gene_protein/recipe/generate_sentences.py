"""Write training abstracts and generated sentences: ``generate_sentences.py DATA OUT``.

JNLPBA has abstracts about transcription in blood cells only. General English, such as that a name
after "a deletion in" is a gene, is added by sentences of a grammar, with random names of HGNC. All
three kinds get the same names and the same clauses, so that only the words next to the name tell
its kind.

Names in JNLPBA are long ("human p53 gene"). The recogniser ``kinds`` of the shipped pipeline, whose
names the model judges in raw text, finds "p53" in them; these names are added with the kind of the
long one.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from textrank.language import load_nlp

SENTENCES = 12000
NAMES = 3000

# Phrases around a name {}: a choice of words with | between them at each place, _ for a blank.
PHRASES = {
    "DNA": """
the|this {} gene|locus|promoter|enhancer|allele|alleles|genes|cDNA|coding_region|coding_sequence
the {} gene_promoter|gene_locus|promoter_region|genomic_region|open_reading_frame|coding_exons
the human|mouse|murine|rat|wild-type|mutant|endogenous {} gene|locus|promoter|allele
mutations|a_mutation|variants|polymorphisms|deletions|insertions|alterations in|of|within {}
mutations|a_mutation|variants|deletions|a_deletion|an_insertion in the {} gene|locus|promoter
a missense|nonsense|point|germline|somatic|homozygous|truncating mutation|variant in|of {}
deletion|disruption|amplification|rearrangement|methylation|inactivation|knockout of {}
deletion|disruption|amplification|methylation|inactivation|knockout of the {} gene|locus
deletion|duplication|skipping|mutation|sequencing of exon|intron|codon 2|5|11|12 of|in {}
the promoter|enhancer|locus|introns|exons|coding_sequence|alleles|genotypes|haplotypes of|at {}
the last|second|fourth exon|intron|codon of {}
exon|intron|exons|codon 1|3|4|9 of the|the_human {} gene
the gene|locus|sequence|allele of|called|named {}
the 5'_flanking_region|upstream_region|regulatory_region|transcription_start_site of {}
the chromosomal_location|genomic_organization|copy_number|nucleotide_sequence of {}
loss|gain|one_copy|both_copies|two_alleles|the_single_allele of {}
allelic_loss|linkage|an_association|heterozygosity|a_breakpoint at|with the {} locus|gene
transcription|transcriptional_activation|silencing of {}
transcription|activation|induction|repression of the {} gene|promoter
a_knockout_of|a_targeted_deletion_of|a_null_allele_of|homozygosity_for {}
binding_sites|response_elements|a_TATA_box|CpG_sites|CpG_islands in|within {}
binding_sites|response_elements|a_TATA_box|CpG_sites in|within the {} promoter|enhancer
""",
    "RNA": """
{} mRNA|mRNAs|messenger_RNA|RNA|transcript|transcripts|message|mRNA_expression|mRNA_levels
the {} mRNA|messenger_RNA|transcript|transcripts|message|pre-mRNA
levels|expression|abundance|stability|decay|translation|splicing of {} mRNA|transcripts
the mRNA|transcript|transcripts|mRNAs|messenger_RNA|message of|for|from {}
transcripts|mRNAs|messages|messenger_RNAs of|for|from|to|encoding {}
levels|expression|amounts of transcripts|mRNA|messenger_RNA for|of|from|to {}
alternatively_spliced|full-length|mature|nuclear|cytoplasmic|maternal {} transcripts|mRNA|RNA
alternatively_spliced|full-length|truncated transcripts|mRNAs of|from|for {}
a_probe|an_siRNA|an_antisense_oligonucleotide for|against|to|targeting {} mRNA|transcripts
the 5'_untranslated_region|3'_UTR|poly(A)_tail|coding_region of {} mRNA|transcripts
""",
    "protein": """
{} protein|polypeptide|protein_levels|kinase_activity|phosphorylation|secretion|antibodies
the {} protein|polypeptide|molecule|ligand|antigen|gene_product|dimer|complex
phosphorylated|purified|recombinant|soluble|secreted|active|activated|nuclear|membrane-bound {}
recombinant|purified|full-length|tagged human|mouse|murine|bovine {}
phosphorylation|acetylation|degradation|secretion|cleavage|binding|activity|activation of {}
tyrosine|serine|threonine phosphorylation of {}
the catalytic|enzymatic|kinase|binding|transcriptional activity|function of {}
the N_terminus|kinase_domain|cytoplasmic_tail|active_site|structure|substrates|residues of {}
the amino-terminal|C-terminal|extracellular|catalytic|DNA-binding domain|region|part of {}
the nuclear_translocation|membrane_localization|dimerization|proteolysis|half-life of {}
plasma|serum|tissue|surface concentrations|levels of {}
antibodies|an_antibody|antiserum|an_antagonist to|against|of {}
a_complex|an_interaction|association with|of {}
binding of calcium|the_ligand|the_peptide|DNA to {}
""",
}
# Clauses about a phrase, the same for all kinds.
CLAUSES = """
We studied|examined|analysed|observed|found {} in|from cells|patients|mice|tumours|the_liver .
{} was|were detected|seen|examined|measured|increased|reduced|absent in cells|patients|mice .
In cells|patients|this_study|mice|these_tumours , {} was|were found|altered|examined|unchanged .
These results|data|findings show|suggest|indicate that {} is|are important|involved|required .
The effect|role|importance of {} in disease|development|cancer is|was unknown|unclear|discussed .
{} may|might|could|can be important|altered|lost|detected|involved in cancer|disease|development .
The factor|protein|drug|compound binds_to|acts_on|regulates|targets {} in_vitro|in_vivo .
A change|defect|difference in {} leads_to|causes|explains disease|the_phenotype|growth .
Cells|patients|mice with|lacking|without {} were studied|compared|examined .
There was|is no|little|strong evidence for {} in the|these samples|patients|cells .
Here we describe|report|characterize|investigate {} .
"""
# Statements about a name without a phrase.
STATEMENTS = {
    "DNA": """
{} is|was located|localized|mapped on|to chromosome 2|7|11|X|19q13 .
{} maps|was_mapped|has_been_mapped to chromosome|band|the_region 5|12|17p13|6q21 .
{} encodes|codes_for a protein|receptor|kinase|polypeptide of 300 residues|amino_acids .
{} is|was deleted|amplified|methylated|mutated|rearranged in tumours|cancers|families|patients .
{} consists_of|contains|spans|has 3|8|12 exons|introns|kb .
{} is|was transcribed|cloned|sequenced|knocked_out in cells|mice|yeast .
Patients|mice|embryos homozygous|heterozygous for {} were studied|examined|described .
We cloned|sequenced|genotyped|knocked_out|screened {} in families|patients|mice .
""",
    "RNA": """
{} mRNA|transcripts was|were expressed|induced|degraded|translated|transcribed in brain|cells .
{} mRNA|transcript is|was 2|1.5|4 kb long|in_size .
Northern_blots|RT-PCR|hybridization showed|revealed|detected {} mRNA|transcripts|RNA in brain .
""",
    "protein": """
{} binds|bound|interacts_with|phosphorylates|cleaves DNA|actin|the_receptor|calcium|its_substrate .
{} is|was phosphorylated|cleaved|secreted|activated|degraded|purified in|by cells|plasma|neurons .
{} is a|the kinase|receptor|transcription_factor|enzyme|ligand|cytokine|membrane_protein .
{} , a|the kinase|receptor|protein|enzyme|transcription_factor , was|is involved|studied|active .
{} translocated|was_recruited|localizes|binds to the nucleus|membrane|cytoplasm|mitochondria .
{} inhibits|stimulates|activates|regulates|mediates apoptosis|growth|proliferation|signalling .
Cells were treated|stimulated|incubated with {} for 2|24 hours .
{} associates|forms_a_complex|dimerizes with the_receptor|the_kinase|actin .
We immunoprecipitated|purified|added|immobilized {} from|in cells|extracts|lysates .
""",
}
COLUMNS = ("Approved symbol", "Approved name", "Alias symbols", "Previous symbols")
HEAD_NOUNS = ("gene", "genes", "locus", "promoter", "mRNA", "mRNAs", "transcript", "transcripts")


def make_sentence(kind: str, name: str, rng: random.Random) -> tuple[str, int, int]:
    """Return a random sentence with a name of that kind, and the start and end of the name.

    The name is extended by a following word of HEAD_NOUNS with probability 0.5.
    """
    is_statement = rng.random() < 0.4
    line = _fill_line(STATEMENTS[kind] if is_statement else PHRASES[kind], rng)
    line = line if is_statement else _fill_line(CLAUSES, rng).replace("{}", line)
    text = line[0].upper() + line[1:]
    start = text.index("{}")
    text = text.replace("{}", name, 1).replace(" ,", ",").replace(" .", ".")
    end = start + len(name)
    next_word = text[end + 1 :].split(" ")[0].rstrip(".,")
    if next_word in HEAD_NOUNS and rng.random() < 0.5:
        end += 1 + len(next_word)
    return text, start, end


def _fill_line(lines: str, rng: random.Random) -> str:
    """Return a random line of a grammar with its alternatives chosen at random."""
    line = rng.choice(lines.strip().split("\n"))
    return " ".join(rng.choice(word.split("|")) for word in line.split(" ")).replace("_", " ")


def read_names(path: Path, rng: random.Random) -> list[str]:
    """Return NAMES random symbols, aliases and short full names of HGNC."""
    names: set[str] = set()
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            names.update(_short_names(row))
    return rng.sample(sorted(names), NAMES)


def _short_names(row: dict[str, str]) -> Iterator[str]:
    """Yield the names of a protein-coding gene of 3 to 24 characters and at most 3 words."""
    if row["Locus type"] == "gene with protein product":
        for column in COLUMNS:
            for name in row[column].split(", "):
                if 2 < len(name) < 25 and name.count(" ") < 3 and name[0].isalpha():
                    yield name


def generate_rows(data: Path, count: int = SENTENCES, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield documents of one generated sentence each, as rows of JSON lines."""
    rng = random.Random(seed)
    names = read_names(data / "ids" / "hgnc.tsv.gz", rng)
    for number in range(count):
        kind = ("DNA", "RNA", "protein")[number % 3]
        text, start, end = make_sentence(kind, rng.choice(names), rng)
        yield {"id": f"grammar-{number}", "text": text, "entities": [[start, end, kind]]}


def add_short_names(abstracts: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield abstracts with the names that ``kinds`` finds inside annotated ones added.

    A new name has the kind of the shortest annotated name around it.
    """
    abstracts = list(abstracts)
    docs = load_nlp(only=["kinds"]).pipe(row["text"] for row in abstracts)
    for row, doc in zip(abstracts, docs, strict=True):
        kind_of_range = {(start, end): kind for start, end, kind, *_ in row["entities"]}
        added = {}
        for span in doc.spans["entities"]:
            span_range = span.start_char, span.end_char
            outer_ranges = [
                outer
                for outer in kind_of_range
                if outer[0] <= span_range[0] and span_range[1] <= outer[1]
            ]
            if outer_ranges and span_range not in kind_of_range:
                added[span_range] = kind_of_range[
                    min(outer_ranges, key=lambda outer: outer[1] - outer[0])
                ]
        yield {
            **row,
            "entities": [
                *row["entities"],
                *([*added_range, k] for added_range, k in added.items()),
            ],
        }


def main(data: Path, out: Path) -> None:
    """Write the abstracts and generated sentences to one file."""
    with gzip.open(out / "names.jsonl.gz", "wt", encoding="utf-8") as file:
        with gzip.open(data / "jnlpba" / "train.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in add_short_names(map(json.loads, lines)):
                file.write(json.dumps(row) + "\n")
        for row in generate_rows(data):
            file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
