"""The list of public names: a line here makes a name public; `as` tells type checkers so."""

from .pipeline.library.evaluate import Evaluate as Evaluate
from .pipeline.library.evaluate import Evaluated as Evaluated
from .pipeline.library.read_scores import ScoreTables as ScoreTables
from .pipeline.library.read_scores import read_scores as read_scores
from .transforms.calls import compare as compare
from .transforms.calls import score as score
from .transforms.calls import score_pairs as score_pairs
from .transforms.calls import score_segments as score_segments
from .transforms.corpus_scores import CompareSystems as CompareSystems
from .transforms.corpus_scores import CorpusBleu as CorpusBleu
from .transforms.corpus_scores import CorpusChrf as CorpusChrf
from .transforms.corpus_scores import CorpusScore as CorpusScore
from .transforms.corpus_scores import CorpusScores as CorpusScores
from .transforms.corpus_scores import CorpusTer as CorpusTer
from .transforms.corpus_scores import SumSegments as SumSegments
from .transforms.metrics.bleu.metric import BleuConfig as BleuConfig
from .transforms.metrics.bleu.metric import BleuScore as BleuScore
from .transforms.metrics.bleu.presets import preset as preset
from .transforms.metrics.bleu.sum_rows import bleu_of_sums as bleu_of_sums
from .transforms.metrics.chrf.metric import ChrfConfig as ChrfConfig
from .transforms.metrics.chrf.metric import ChrfScore as ChrfScore
from .transforms.metrics.error_rates.metric import CerConfig as CerConfig
from .transforms.metrics.error_rates.metric import ErrorRateScore as ErrorRateScore
from .transforms.metrics.error_rates.metric import WerConfig as WerConfig
from .transforms.metrics.rouge.metric import Rouge1Config as Rouge1Config
from .transforms.metrics.rouge.metric import Rouge2Config as Rouge2Config
from .transforms.metrics.rouge.metric import RougeLConfig as RougeLConfig
from .transforms.metrics.rouge.metric import RougeLsumConfig as RougeLsumConfig
from .transforms.metrics.rouge.metric import RougeScore as RougeScore
from .transforms.metrics.squad import ExactMatchConfig as ExactMatchConfig
from .transforms.metrics.squad import ExactMatchScore as ExactMatchScore
from .transforms.metrics.squad import TokenF1Config as TokenF1Config
from .transforms.metrics.squad import TokenF1Score as TokenF1Score
from .transforms.metrics.ter.metric import TerConfig as TerConfig
from .transforms.metrics.ter.metric import TerScore as TerScore
from .transforms.pairing.segments.arrow_columns import ArrowColumns as ArrowColumns
from .transforms.reading import ReadJoinedRecords as ReadJoinedRecords
from .transforms.reading import ReadLineParallel as ReadLineParallel
from .transforms.reading import ReadLongRecords as ReadLongRecords
from .transforms.reading import ReadPairedRecords as ReadPairedRecords
from .transforms.score.differences import ComparedSystems as ComparedSystems
from .transforms.score.differences import SystemComparison as SystemComparison
from .transforms.segment_scores import SegmentScores as SegmentScores
from .transforms.text.text import SentencePieceModel as SentencePieceModel

__version__: str
