"""Sixty sentences with the identifiers of their names, written before any answer was seen.

The kinds are those of names that went wrong on real abstracts: domains, abbreviations, families,
aliases of close relatives, symbols that the context decides, modifiers, lists and species. ``None``
means that the name has no identifier (a domain).
"""

from __future__ import annotations

# kind, text, {name as written: expected identifier}
SENTENCES: list[tuple[str, str, dict[str, str | None]]] = [
    (
        "domain",
        "The SH3 domain of CRK was crystallised.",
        {
            "SH3 domain": None,
            "CRK": "ncbigene:1398",
        },
    ),
    (
        "domain",
        "The PH domain of AKT1 binds phosphoinositides.",
        {
            "PH domain": None,
            "AKT1": "ncbigene:207",
        },
    ),
    (
        "domain",
        "A WW domain in YAP1 mediates binding to LATS1.",
        {
            "WW domain": None,
            "YAP1": "ncbigene:10413",
            "LATS1": "ncbigene:9113",
        },
    ),
    (
        "domain",
        "The bromodomain of BRD4 recognises acetylated lysine.",
        {
            "bromodomain": None,
            "BRD4": "ncbigene:23476",
        },
    ),
    (
        "domain",
        "Deletion of the leucine zipper motif of ATF4 abolished dimerisation.",
        {
            "leucine zipper motif": None,
            "ATF4": "ncbigene:468",
        },
    ),
    (
        "abbreviation",
        "The epidermal growth factor receptor (EGFR) recruits GRB2.",
        {
            "EGFR": "ncbigene:1956",
            "GRB2": "ncbigene:2885",
        },
    ),
    (
        "abbreviation",
        "TNF-related apoptosis-inducing ligand (TRAIL) binds death receptor 5 (DR5).",
        {
            "TRAIL": "ncbigene:8743",
            "DR5": "ncbigene:8795",
        },
    ),
    (
        "abbreviation",
        "Vascular endothelial growth factor receptor 2 (VEGFR2) was phosphorylated "
        "after stimulation.",
        {
            "VEGFR2": "ncbigene:3791",
        },
    ),
    (
        "abbreviation",
        "The aryl hydrocarbon receptor (AhR) dimerises with ARNT in human hepatocytes.",
        {
            "AhR": "ncbigene:196",
            "ARNT": "ncbigene:405",
        },
    ),
    (
        "abbreviation",
        "Hypoxia-inducible factor 1 alpha (HIF-1α) is hydroxylated by PHD2.",
        {
            "HIF-1α": "ncbigene:3091",
            "PHD2": "ncbigene:54583",
        },
    ),
    (
        "family",
        "IL-1 activates NF-κB through TRAF6.",
        {
            "NF-κB": "fplx:NFkappaB",
            "TRAF6": "ncbigene:7189",
        },
    ),
    (
        "family",
        "RAF phosphorylates MEK, which in turn phosphorylates ERK.",
        {
            "RAF": "fplx:RAF",
            "MEK": "fplx:MEK",
            "ERK": "fplx:ERK",
        },
    ),
    (
        "family",
        "Insulin activates PI3K and AKT in muscle cells.",
        {
            "PI3K": "fplx:PI3K",
            "AKT": "fplx:AKT",
        },
    ),
    (
        "family",
        "AMPK inhibits mTORC1 when energy is low.",
        {
            "AMPK": "fplx:AMPK",
            "mTORC1": "fplx:mTORC1",
        },
    ),
    (
        "family",
        "JNK phosphorylates c-Jun at serine 63.",
        {
            "JNK": "fplx:JNK",
            "c-Jun": "ncbigene:3725",
        },
    ),
    (
        "family",
        "PKC activates p38 in keratinocytes.",
        {
            "PKC": "fplx:PKC",
            "p38": "fplx:p38",
        },
    ),
    (
        "family",
        "Tubulin binds stathmin.",
        {
            "Tubulin": "fplx:Tubulin",
            "stathmin": "ncbigene:3925",
        },
    ),
    (
        "family",
        "Profilin binds actin monomers.",
        {
            "actin": "fplx:Actin",
        },
    ),
    (
        "family",
        "PKA phosphorylates CREB1 in neurons.",
        {
            "PKA": "fplx:PKA",
            "CREB1": "ncbigene:1385",
        },
    ),
    (
        "family",
        "HDAC inhibitors increase acetylation of histone H3.",
        {
            "HDAC": "fplx:HDAC",
            "histone H3": "fplx:Histone_H3",
        },
    ),
    (
        "alias",
        "PCAF and GCN5 are both histone acetyltransferases.",
        {
            "PCAF": "ncbigene:8850",
            "GCN5": "ncbigene:2648",
        },
    ),
    (
        "alias",
        "TIP60 acetylates ATM after irradiation.",
        {
            "TIP60": "ncbigene:10524",
            "ATM": "ncbigene:472",
        },
    ),
    (
        "alias",
        "LSD1 demethylates histone H3 together with CoREST.",
        {
            "LSD1": "ncbigene:23028",
            "CoREST": "ncbigene:23186",
        },
    ),
    (
        "alias",
        "HER2 forms dimers with HER3.",
        {
            "HER2": "ncbigene:2064",
            "HER3": "ncbigene:2065",
        },
    ),
    (
        "alias",
        "FADD recruits caspase-8, which cleaves BID.",
        {
            "FADD": "ncbigene:8772",
            "caspase-8": "ncbigene:841",
            "BID": "ncbigene:637",
        },
    ),
    (
        "alias",
        "Caspase-3 cleaves PARP-1 and ICAD.",
        {
            "Caspase-3": "ncbigene:836",
            "PARP-1": "ncbigene:142",
            "ICAD": "ncbigene:1676",
        },
    ),
    (
        "alias",
        "p38 alpha activates MK2.",
        {
            "p38 alpha": "ncbigene:1432",
            "MK2": "ncbigene:9261",
        },
    ),
    (
        "alias",
        "MDM2 ubiquitinates p53 and p21 levels rose.",
        {
            "MDM2": "ncbigene:4193",
            "p53": "ncbigene:7157",
            "p21": "ncbigene:1026",
        },
    ),
    (
        "context",
        "RelA (p65) binds p50 on the promoter.",
        {
            "p65": "ncbigene:5970",
            "p50": "ncbigene:4790",
        },
    ),
    (
        "context",
        "p105 is processed to p50, which associates with p65.",
        {
            "p50": "ncbigene:4790",
            "p65": "ncbigene:5970",
        },
    ),
    (
        "context",
        "PDK1 phosphorylates AKT at threonine 308 downstream of PI3K.",
        {
            "PDK1": "ncbigene:5170",
        },
    ),
    (
        "context",
        "Pyruvate dehydrogenase is inhibited by PDK1 under hypoxia.",
        {
            "PDK1": "ncbigene:5163",
        },
    ),
    (
        "context",
        "SRC phosphorylates CAS and FAK at focal adhesions.",
        {
            "SRC": "ncbigene:6714",
            "CAS": "ncbigene:9564",
            "FAK": "ncbigene:5747",
        },
    ),
    (
        "context",
        "The p85 subunit recruits p110 alpha to IRS1.",
        {
            "p110 alpha": "ncbigene:5290",
            "IRS1": "ncbigene:3667",
        },
    ),
    (
        "context",
        "p27 inhibits CDK2 bound to cyclin E1.",
        {
            "p27": "ncbigene:1027",
            "CDK2": "ncbigene:1017",
            "cyclin E1": "ncbigene:898",
        },
    ),
    (
        "context",
        "CD95 binds FADD to induce apoptosis.",
        {
            "CD95": "ncbigene:355",
            "FADD": "ncbigene:8772",
        },
    ),
    (
        "modifier",
        "recombinant hIL-6 induces STAT3 phosphorylation.",
        {
            "hIL-6": "ncbigene:3569",
            "STAT3": "ncbigene:6774",
        },
    ),
    (
        "modifier",
        "Mutant KRAS protein binds wild-type BRAF.",
        {
            "KRAS": "ncbigene:3845",
            "BRAF": "ncbigene:673",
        },
    ),
    (
        "modifier",
        "GST-tagged SMAD4 pulled down phosphorylated SMAD3.",
        {
            "SMAD4": "ncbigene:4089",
            "SMAD3": "ncbigene:4088",
        },
    ),
    (
        "modifier",
        "TGF-beta1 represses c-Myc transcription.",
        {
            "TGF-beta1": "ncbigene:7040",
            "c-Myc": "ncbigene:4609",
        },
    ),
    (
        "modifier",
        "Full-length human APP is cleaved by BACE1.",
        {
            "APP": "ncbigene:351",
            "BACE1": "ncbigene:23621",
        },
    ),
    (
        "list",
        "STAT1 and -3 were phosphorylated by JAK2.",
        {
            "STAT1": "ncbigene:6772",
            "JAK2": "ncbigene:3717",
        },
    ),
    (
        "list",
        "SMAD2/3 bind SMAD4 in the nucleus.",
        {
            "SMAD4": "ncbigene:4089",
        },
    ),
    (
        "list",
        "MMP-2 and MMP-9 degrade type IV collagen.",
        {
            "MMP-2": "ncbigene:4313",
            "MMP-9": "ncbigene:4318",
        },
    ),
    (
        "species",
        "We show that p53 represses N-cadherin in patients.",
        {
            "p53": "ncbigene:7157",
            "N-cadherin": "ncbigene:1000",
        },
    ),
    (
        "species",
        "In knockout mice lacking Trp53, Cdkn1a was not induced.",
        {
            "Trp53": "ncbigene:22059",
            "Cdkn1a": "ncbigene:12575",
        },
    ),
    (
        "species",
        "Mouse Shh binds Ptch1 in the limb bud of mouse embryos.",
        {
            "Shh": "ncbigene:20423",
            "Ptch1": "ncbigene:19206",
        },
    ),
    (
        "species",
        "Rat Bdnf activates Ntrk2 in rat hippocampal neurons.",
        {
            "Bdnf": "ncbigene:24225",
            "Ntrk2": "ncbigene:25054",
        },
    ),
    (
        "species",
        "In Wistar rats, IL-1β induced COX-2 in the spinal cord.",
        {
            "IL-1β": "ncbigene:24494",
            "COX-2": "ncbigene:29527",
        },
    ),
    (
        "species",
        "In Saccharomyces cerevisiae, CLN2 binds CDC28.",
        {
            "CLN2": "ncbigene:855819",
            "CDC28": "ncbigene:852457",
        },
    ),
    (
        "species",
        "Budding yeast Cdc28p phosphorylates Swe1p.",
        {
            "Cdc28p": "ncbigene:852457",
            "Swe1p": "ncbigene:853252",
        },
    ),
    (
        "species",
        "In S. cerevisiae, Mec1 phosphorylates Rad53.",
        {
            "Mec1": "ncbigene:852433",
            "Rad53": "ncbigene:855950",
        },
    ),
    (
        "species",
        "In fission yeast, cdc25 dephosphorylates cdc2.",
        {
            "cdc25": "ncbigene:2542632",
            "cdc2": "ncbigene:2539869",
        },
    ),
    (
        "species",
        "In Drosophila, hedgehog signals through patched and smoothened.",
        {
            "hedgehog": "ncbigene:42737",
            "patched": "ncbigene:35851",
            "smoothened": "ncbigene:33196",
        },
    ),
    (
        "species",
        "In C. elegans, daf-2 inhibits daf-16.",
        {
            "daf-2": "ncbigene:175410",
            "daf-16": "ncbigene:172981",
        },
    ),
    (
        "species",
        "In E. coli, RecA promotes cleavage of LexA.",
        {
            "RecA": "ncbigene:947170",
            "LexA": "ncbigene:948544",
        },
    ),
    (
        "species",
        "In Arabidopsis, PIF4 interacts with PHYB.",
        {
            "PIF4": "ncbigene:818903",
            "PHYB": "ncbigene:816394",
        },
    ),
    (
        "species",
        "In zebrafish embryos, shha induces ptch2.",
        {
            "shha": "ncbigene:30269",
            "ptch2": "ncbigene:30181",
        },
    ),
    (
        "species",
        "HIV-1 Tat recruits human CDK9 and cyclin T1.",
        {
            "CDK9": "ncbigene:1025",
            "cyclin T1": "ncbigene:904",
        },
    ),
    (
        "species",
        "GAL4 binds GAL80 in yeast cells.",
        {
            "GAL4": "ncbigene:855828",
            "GAL80": "ncbigene:854954",
        },
    ),
]
