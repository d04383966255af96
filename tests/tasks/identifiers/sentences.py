"""Sixty sentences, three times, with the identifiers of their names; written before any answer.

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

# Sixty more, written after the rules for the first ones and before any answer was seen. A tuple
# names the genes that the items of a list must have, a frozenset identifiers of which one is right.
Expected = str | None | tuple[str, ...] | frozenset[str]
OTHER_SENTENCES: list[tuple[str, str, dict[str, Expected]]] = [
    (
        "domain",
        "The PDZ domain of PSD-95 was expressed in bacteria.",
        {"PDZ domain": None, "PSD-95": "ncbigene:1742"},
    ),
    (
        "domain",
        "The death domain of FADD is required for this signal.",
        {"death domain": None, "FADD": "ncbigene:8772"},
    ),
    (
        "domain",
        "Mutations in the RING finger of BRCA1 abolish its activity.",
        {"RING finger": None, "BRCA1": "ncbigene:672"},
    ),
    (
        "domain",
        "The C-terminal SH3 domain of NCK1 interacts with PAK1.",
        {"SH3 domain": None, "NCK1": "ncbigene:4690", "PAK1": "ncbigene:5058"},
    ),
    (
        "domain",
        "The kinase domain of EGFR and the ankyrin repeats of IκBα were modelled.",
        {"kinase domain": None, "EGFR": "ncbigene:1956", "IκBα": "ncbigene:4792"},
    ),
    (
        "abbreviation",
        "Insulin-like growth factor-binding protein 3 (IGFBP-3) inhibits growth.",
        {
            "Insulin-like growth factor-binding protein 3": "ncbigene:3486",
            "IGFBP-3": "ncbigene:3486",
        },
    ),
    (
        "abbreviation",
        "Signal transducer and activator of transcription 5A (STAT5A) binds the promoter.",
        {
            "Signal transducer and activator of transcription 5A": "ncbigene:6776",
            "STAT5A": "ncbigene:6776",
        },
    ),
    (
        "abbreviation",
        "Cyclin-dependent kinase inhibitor 1B (p27) is degraded by SKP2.",
        {"p27": "ncbigene:1027", "SKP2": "ncbigene:6502"},
    ),
    (
        "abbreviation",
        "Macrophage migration inhibitory factor (MIF) binds CD74.",
        {
            "Macrophage migration inhibitory factor": "ncbigene:4282",
            "MIF": "ncbigene:4282",
            "CD74": "ncbigene:972",
        },
    ),
    (
        "abbreviation",
        "The tumor necrosis factor receptor-associated factor 6 (TRAF6) ubiquitinates TAK1.",
        {"TRAF6": "ncbigene:7189", "TAK1": "ncbigene:6885"},
    ),
    (
        "family",
        "AP-1 activity depends on JNK in fibroblasts.",
        {"AP-1": "fplx:AP1", "JNK": "fplx:JNK"},
    ),
    ("family", "RAS activates RAF at the membrane.", {"RAS": "fplx:RAS", "RAF": "fplx:RAF"}),
    ("family", "PP2A dephosphorylates AKT.", {"PP2A": "fplx:PPP2", "AKT": "fplx:AKT"}),
    (
        "family",
        "GSK3 phosphorylates tau in neurons.",
        {"GSK3": "fplx:GSK3", "tau": "ncbigene:4137"},
    ),
    (
        "family",
        "PDGF induces phosphorylation of ERK in smooth muscle cells.",
        {"PDGF": "fplx:PDGF", "ERK": "fplx:ERK"},
    ),
    (
        "family",
        "IKK phosphorylates IκBα.",
        {"IKK": frozenset(("fplx:IKK_family", "fplx:IKK_complex")), "IκBα": "ncbigene:4792"},
    ),
    (
        "family",
        "The proteasome degrades MCL1 and tubulin.",
        {"MCL1": "ncbigene:4170", "tubulin": "fplx:Tubulin"},
    ),
    ("family", "CK2 binds to the regulatory subunit of calcineurin.", {"CK2": "fplx:CK2"}),
    (
        "family",
        "AMPK activation reduces NF-kappaB signalling in macrophages.",
        {"AMPK": "fplx:AMPK", "NF-kappaB": "fplx:NFkappaB"},
    ),
    ("alias", "SHP2 dephosphorylates GAB1.", {"SHP2": "ncbigene:5781", "GAB1": "ncbigene:2549"}),
    (
        "alias",
        "TRAIL induces cleavage of caspase-9 and XIAP.",
        {"TRAIL": "ncbigene:8743", "caspase-9": "ncbigene:842", "XIAP": "ncbigene:331"},
    ),
    ("alias", "Survivin is bound by Smac.", {"Survivin": "ncbigene:332", "Smac": "ncbigene:56616"}),
    (
        "alias",
        "c-Cbl ubiquitinates the receptor after binding of EGF.",
        {"c-Cbl": "ncbigene:867", "EGF": "ncbigene:1950"},
    ),
    (
        "alias",
        "SIRT1 deacetylates PGC-1α.",
        {"SIRT1": "ncbigene:23411", "PGC-1α": "ncbigene:10891"},
    ),
    (
        "alias",
        "β-catenin binds TCF4 and E-cadherin.",
        {"β-catenin": "ncbigene:1499", "E-cadherin": "ncbigene:999"},
    ),
    (
        "alias",
        "Cyclin D1 associates with CDK4, and p16 inhibits CDK4.",
        {"Cyclin D1": "ncbigene:595", "CDK4": "ncbigene:1019", "p16": "ncbigene:1029"},
    ),
    (
        "alias",
        "Ku70 and Ku80 recruit DNA-PKcs.",
        {"Ku70": "ncbigene:2547", "Ku80": "ncbigene:7520", "DNA-PKcs": "ncbigene:5591"},
    ),
    ("context", "p52 and RelB form a dimer.", {"p52": "ncbigene:4791", "RelB": "ncbigene:5971"}),
    (
        "context",
        "p107 and p130 bind E2F4.",
        {"p107": "ncbigene:5933", "p130": "ncbigene:5934", "E2F4": "ncbigene:1874"},
    ),
    (
        "context",
        "CBP and p300 acetylate p53.",
        {"CBP": "ncbigene:1387", "p300": "ncbigene:2033", "p53": "ncbigene:7157"},
    ),
    (
        "context",
        "p19ARF binds MDM2 and stabilises p53.",
        {"p19ARF": "ncbigene:1029", "MDM2": "ncbigene:4193"},
    ),
    (
        "context",
        "MEK1 phosphorylates p44 and p42.",
        {"MEK1": "ncbigene:5604", "p44": "ncbigene:5595", "p42": "ncbigene:5594"},
    ),
    (
        "context",
        "PAK1 is activated by CDC42 and RAC1.",
        {"PAK1": "ncbigene:5058", "CDC42": "ncbigene:998", "RAC1": "ncbigene:5879"},
    ),
    (
        "context",
        "FAK binds paxillin and CAS at focal adhesions.",
        {"FAK": "ncbigene:5747", "paxillin": "ncbigene:5829", "CAS": "ncbigene:9564"},
    ),
    (
        "context",
        "ATM phosphorylates CHK2 and NBS1.",
        {"ATM": "ncbigene:472", "CHK2": "ncbigene:11200", "NBS1": "ncbigene:4683"},
    ),
    ("modifier", "Recombinant human PDGF-BB induces c-fos.", {"c-fos": "ncbigene:2353"}),
    (
        "modifier",
        "Dominant-negative SMAD7 blocks TGF-β1 signalling.",
        {"SMAD7": "ncbigene:4092", "TGF-β1": "ncbigene:7040"},
    ),
    (
        "modifier",
        "Phospho-STAT3 and FLAG-tagged JAK1 were precipitated.",
        {"STAT3": "ncbigene:6774", "JAK1": "ncbigene:3716"},
    ),
    (
        "modifier",
        "Mutant huntingtin protein binds wild-type HAP1.",
        {"huntingtin": "ncbigene:3064", "HAP1": "ncbigene:9001"},
    ),
    (
        "modifier",
        "Overexpression of full-length PTEN reduced phosphorylated AKT1.",
        {"PTEN": "ncbigene:5728", "AKT1": "ncbigene:207"},
    ),
    (
        "list",
        "MKK3/6 activate p38 alpha.",
        {"MKK3/6": ("ncbigene:5606", "ncbigene:5608"), "p38 alpha": "ncbigene:1432"},
    ),
    (
        "list",
        "SMAD1, -5 and -8 are phosphorylated by ALK2.",
        {"SMAD1, -5 and -8": ("ncbigene:4086", "ncbigene:4090"), "ALK2": "ncbigene:90"},
    ),
    (
        "list",
        "Caspases 8 and 10 were cleaved.",
        {"Caspases 8 and 10": ("ncbigene:841", "ncbigene:843")},
    ),
    (
        "list",
        "LATS1/2 phosphorylate YAP.",
        {"LATS1/2": ("ncbigene:9113", "ncbigene:26524"), "YAP": "ncbigene:10413"},
    ),
    (
        "none",
        "The R175H mutation and the stop codon Q192Stop were found in TP53.",
        {"R175H": None, "Q192Stop": None, "TP53": "ncbigene:7157"},
    ),
    (
        "none",
        "HEK293 cells were treated with dexamethasone (100 nM) and IL-4.",
        {"HEK293": None, "dexamethasone": None, "IL-4": "ncbigene:3565"},
    ),
    (
        "none",
        "An antisense oligonucleotide (AS-ODN) against RAF1 was used.",
        {"AS-ODN": None, "RAF1": "ncbigene:5894"},
    ),
    (
        "species",
        "In patients with melanoma, BRAF activates MAP2K1.",
        {"BRAF": "ncbigene:673", "MAP2K1": "ncbigene:5604"},
    ),
    (
        "species",
        "In mice lacking Il10, Tnf was elevated.",
        {"Il10": "ncbigene:16153", "Tnf": "ncbigene:21926"},
    ),
    (
        "species",
        "Mouse Wnt3a stabilises beta-catenin in mouse embryos.",
        {"Wnt3a": "ncbigene:22416", "beta-catenin": "ncbigene:12387"},
    ),
    (
        "species",
        "In Sprague-Dawley rats, leptin induced STAT3 phosphorylation in the hypothalamus.",
        {"leptin": "ncbigene:25608", "STAT3": "ncbigene:25125"},
    ),
    ("species", "Rat PC12 cells express TrkA after addition of NGF.", {"TrkA": "ncbigene:59109"}),
    (
        "species",
        "In S. cerevisiae, Ste11 phosphorylates Ste7.",
        {"Ste11": "ncbigene:851076", "Ste7": "ncbigene:851396"},
    ),
    (
        "species",
        "Budding yeast Sic1p inhibits Clb5p.",
        {"Sic1p": "ncbigene:850768", "Clb5p": "ncbigene:856237"},
    ),
    (
        "species",
        "In fission yeast, wee1 phosphorylates cdc2.",
        {"wee1": "ncbigene:2539123", "cdc2": "ncbigene:2539869"},
    ),
    (
        "species",
        "In Drosophila embryos, Notch binds Delta.",
        {"Notch": "ncbigene:31293", "Delta": "ncbigene:42313"},
    ),
    (
        "species",
        "In C. elegans, ced-9 inhibits ced-4.",
        {"ced-9": "ncbigene:3565776", "ced-4": "ncbigene:175643"},
    ),
    (
        "species",
        "In Escherichia coli, FtsZ interacts with FtsA.",
        {"FtsZ": "ncbigene:944786", "FtsA": "ncbigene:944778"},
    ),
    (
        "species",
        "In Arabidopsis, COP1 degrades HY5.",
        {"COP1": "ncbigene:817857", "HY5": "ncbigene:830996"},
    ),
    (
        "species",
        "In zebrafish embryos, fgf8a induces pea3 and spry4.",
        {"fgf8a": "ncbigene:30538", "spry4": "ncbigene:114437"},
    ),
]


# Sixty of other genes, written before any answer of the model that ships was seen for them.
THIRD_SENTENCES: list[tuple[str, str, dict[str, Expected]]] = [
    (
        "domain",
        "The PX domain of SNX1 binds membranes.",
        {"PX domain": None, "SNX1": "ncbigene:6642"},
    ),
    (
        "domain",
        "The BRCT domain of TOPBP1 was mutated.",
        {"BRCT domain": None, "TOPBP1": "ncbigene:11073"},
    ),
    (
        "domain",
        "A coiled-coil domain in GOLGA2 mediates binding to USO1.",
        {"coiled-coil domain": None, "GOLGA2": "ncbigene:2801", "USO1": "ncbigene:8615"},
    ),
    (
        "domain",
        "The zinc finger of GATA1 contacts ZFPM1.",
        {"zinc finger": None, "GATA1": "ncbigene:2623", "ZFPM1": "ncbigene:161882"},
    ),
    (
        "domain",
        "The LIM domain of LHX3 and the homeodomain of PITX1 were expressed in bacteria.",
        {
            "LIM domain": None,
            "LHX3": "ncbigene:8022",
            "homeodomain": None,
            "PITX1": "ncbigene:5307",
        },
    ),
    (
        "abbreviation",
        "The hepatocyte growth factor receptor (HGFR) recruits GAB2.",
        {"HGFR": "ncbigene:4233", "GAB2": "ncbigene:9846"},
    ),
    (
        "abbreviation",
        "Receptor-interacting protein kinase 3 (RIPK3) phosphorylates mixed lineage kinase "
        "domain-like protein (MLKL).",
        {"RIPK3": "ncbigene:11035", "MLKL": "ncbigene:197259"},
    ),
    (
        "abbreviation",
        "The vitamin D receptor (VDR) forms heterodimers with RXRA.",
        {"vitamin D receptor": "ncbigene:7421", "VDR": "ncbigene:7421", "RXRA": "ncbigene:6256"},
    ),
    (
        "abbreviation",
        "Protein tyrosine phosphatase 1B (PTP1B) dephosphorylates the insulin receptor (IR).",
        {"PTP1B": "ncbigene:5770", "insulin receptor": "ncbigene:3643", "IR": "ncbigene:3643"},
    ),
    (
        "abbreviation",
        "Brain-derived neurotrophic factor (BDNF) signals through TrkB.",
        {
            "Brain-derived neurotrophic factor": "ncbigene:627",
            "BDNF": "ncbigene:627",
            "TrkB": "ncbigene:4915",
        },
    ),
    (
        "abbreviation",
        "Retinoic acid-inducible gene I (RIG-I) binds the adaptor MAVS.",
        {"RIG-I": "ncbigene:23586", "MAVS": "ncbigene:57506"},
    ),
    (
        "family",
        "CaMKII phosphorylates synapsin I.",
        {
            "CaMKII": frozenset(
                (
                    "fplx:CAMK2_complex",
                    "fplx:CAMK2_family",
                )
            ),
            "synapsin I": "ncbigene:6853",
        },
    ),
    (
        "family",
        "RhoA activates ROCK in fibroblasts.",
        {"RhoA": "ncbigene:387", "ROCK": "fplx:ROCK"},
    ),
    (
        "family",
        "NFAT is dephosphorylated by calcineurin.",
        {"NFAT": frozenset(("fplx:NFAT",)), "calcineurin": frozenset(("fplx:PPP3",))},
    ),
    (
        "family",
        "Integrin binds vitronectin on epithelial cells.",
        {"vitronectin": "ncbigene:7448", "Integrin": frozenset(("fplx:Integrins",))},
    ),
    (
        "family",
        "VEGF stimulates PLC gamma 1.",
        {"VEGF": "fplx:VEGF", "PLC gamma 1": "ncbigene:5335"},
    ),
    (
        "family",
        "SMAD proteins bind the promoter together with FOXH1.",
        {"SMAD": "fplx:SMAD", "FOXH1": "ncbigene:8928"},
    ),
    (
        "family",
        "14-3-3 binds BAD.",
        {"14-3-3": frozenset(("fplx:p14_3_3",)), "BAD": "ncbigene:572"},
    ),
    ("family", "Hsp90 stabilises RIPK1.", {"Hsp90": "fplx:HSP90", "RIPK1": "ncbigene:8737"}),
    (
        "family",
        "TGF-beta induces SNAI1 in epithelial cells.",
        {"TGF-beta": "fplx:TGFB", "SNAI1": "ncbigene:6615"},
    ),
    ("alias", "Bim binds Bcl-w.", {"Bim": "ncbigene:10018", "Bcl-w": "ncbigene:599"}),
    ("alias", "CXCR4 binds SDF-1.", {"CXCR4": "ncbigene:7852", "SDF-1": "ncbigene:6387"}),
    (
        "alias",
        "Ubc9 conjugates SUMO-1 to RanGAP1.",
        {"Ubc9": "ncbigene:7329", "SUMO-1": "ncbigene:7341", "RanGAP1": "ncbigene:5905"},
    ),
    (
        "alias",
        "RANTES attracts cells that express CCR5.",
        {"RANTES": "ncbigene:6352", "CCR5": "ncbigene:1234"},
    ),
    (
        "alias",
        "Neuropilin-1 binds Sema3A.",
        {"Neuropilin-1": "ncbigene:8829", "Sema3A": "ncbigene:10371"},
    ),
    ("alias", "Beclin 1 binds Vps34.", {"Beclin 1": "ncbigene:8678", "Vps34": "ncbigene:5289"}),
    (
        "alias",
        "EZH2 interacts with EED and SUZ12.",
        {"EZH2": "ncbigene:2146", "EED": "ncbigene:8726", "SUZ12": "ncbigene:23512"},
    ),
    ("alias", "MyD88 recruits IRAK4.", {"MyD88": "ncbigene:4615", "IRAK4": "ncbigene:51135"}),
    (
        "context",
        "MST1 phosphorylates SAV1 and MOB1A.",
        {"MST1": "ncbigene:6789", "SAV1": "ncbigene:60485", "MOB1A": "ncbigene:55233"},
    ),
    ("context", "p15 inhibits CDK6.", {"p15": "ncbigene:1030", "CDK6": "ncbigene:1021"}),
    ("context", "ASK1 activates MKK4.", {"ASK1": "ncbigene:4217", "MKK4": "ncbigene:6416"}),
    (
        "context",
        "p67phox and p47phox assemble with gp91phox.",
        {"p67phox": "ncbigene:4688", "p47phox": "ncbigene:653361", "gp91phox": "ncbigene:1536"},
    ),
    (
        "context",
        "NIK phosphorylates IKK alpha.",
        {"NIK": "ncbigene:9020", "IKK alpha": "ncbigene:1147"},
    ),
    (
        "context",
        "PSA and hK2 are elevated in prostate cancer.",
        {"PSA": "ncbigene:354", "hK2": "ncbigene:3817"},
    ),
    (
        "context",
        "p73 and p63 are homologues of p53.",
        {"p73": "ncbigene:7161", "p63": "ncbigene:8626", "p53": "ncbigene:7157"},
    ),
    (
        "modifier",
        "Recombinant human BMP-2 increased osterix.",
        {"BMP-2": "ncbigene:650", "osterix": "ncbigene:121340"},
    ),
    (
        "modifier",
        "HA-tagged NEDD4 ubiquitinates endogenous PTEN.",
        {"NEDD4": "ncbigene:4734", "PTEN": "ncbigene:5728"},
    ),
    (
        "modifier",
        "Constitutively active RAC2 binds GST-PAK2.",
        {"RAC2": "ncbigene:5880", "PAK2": "ncbigene:5062"},
    ),
    (
        "modifier",
        "rhGM-CSF stimulates monocytes through phosphorylated STAT5B.",
        {"rhGM-CSF": "ncbigene:1437", "STAT5B": "ncbigene:6777"},
    ),
    (
        "modifier",
        "Mutated calreticulin activates the thrombopoietin receptor.",
        {"calreticulin": "ncbigene:811", "thrombopoietin receptor": "ncbigene:4352"},
    ),
    (
        "list",
        "Claudin-1, -3 and -4 were reduced.",
        {"Claudin-1, -3 and -4": ("ncbigene:9076", "ncbigene:1365", "ncbigene:1364")},
    ),
    (
        "list",
        "TLR2/4 signal through TIRAP.",
        {"TLR2/4": ("ncbigene:7097", "ncbigene:7099"), "TIRAP": "ncbigene:114609"},
    ),
    (
        "list",
        "BMP-2 and -4 bind noggin.",
        {"BMP-2 and -4": ("ncbigene:650", "ncbigene:652"), "noggin": "ncbigene:9241"},
    ),
    (
        "list",
        "Cyclins A2 and B1 were degraded.",
        {"Cyclins A2 and B1": ("ncbigene:890", "ncbigene:891")},
    ),
    (
        "list",
        "GATA4/5/6 activate NPPA.",
        {
            "GATA4/5/6": ("ncbigene:2626", "ncbigene:140628", "ncbigene:2627"),
            "NPPA": "ncbigene:4878",
        },
    ),
    (
        "none",
        "The V600E substitution in BRAF was detected in A375 cells.",
        {"V600E": None, "A375": None, "BRAF": "ncbigene:673"},
    ),
    (
        "none",
        "Cells were incubated with cycloheximide (50 µg/ml) before addition of TNFSF11.",
        {"cycloheximide": None, "50 µg": None, "TNFSF11": "ncbigene:8600"},
    ),
    (
        "none",
        "Lysosomes of Vero cells were stained with LysoTracker, and LAMP1 was detected.",
        {"Vero": None, "LysoTracker": None, "LAMP1": "ncbigene:3916"},
    ),
    (
        "species",
        "In knockout mice, loss of Nrf2 reduced Hmox1.",
        {"Nrf2": "ncbigene:18024", "Hmox1": "ncbigene:15368"},
    ),
    (
        "species",
        "In rat cardiomyocytes, Nppb was induced by endothelin-1.",
        {"Nppb": "ncbigene:25105", "endothelin-1": "ncbigene:24323"},
    ),
    (
        "species",
        "In S. cerevisiae, Tor1 phosphorylates Sch9.",
        {"Tor1": "ncbigene:853529", "Sch9": "ncbigene:856612"},
    ),
    (
        "species",
        "Budding yeast Atg1p binds Atg13p.",
        {"Atg1p": "ncbigene:852695", "Atg13p": "ncbigene:856315"},
    ),
    (
        "species",
        "In fission yeast, rad3 phosphorylates chk1.",
        {"rad3": "ncbigene:2540719", "chk1": "ncbigene:2539087"},
    ),
    (
        "species",
        "In Drosophila, dorsal is inhibited by cactus.",
        {"dorsal": "ncbigene:35047", "cactus": "ncbigene:34969"},
    ),
    (
        "species",
        "In C. elegans, lin-12 is activated by lag-2.",
        {"lin-12": "ncbigene:176282", "lag-2": "ncbigene:178755"},
    ),
    (
        "species",
        "In E. coli, DnaK binds DnaJ.",
        {"DnaK": "ncbigene:944750", "DnaJ": "ncbigene:944753"},
    ),
    (
        "species",
        "In Arabidopsis, FLC represses FT.",
        {"FLC": "ncbigene:830878", "FT": "ncbigene:842859"},
    ),
    (
        "species",
        "In zebrafish larvae, mitfa activates dct.",
        {"mitfa": "ncbigene:30080", "dct": "ncbigene:58074"},
    ),
    (
        "species",
        "Chicken SHH induces PTCH1 in the limb bud.",
        {"SHH": "ncbigene:395615", "PTCH1": "ncbigene:395806"},
    ),
    (
        "species",
        "In pigs, IGF2 and MC4R were measured.",
        {"IGF2": "ncbigene:396916", "MC4R": "ncbigene:397359"},
    ),
]
