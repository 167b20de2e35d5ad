"""alpaca_eval: pairs, by the probabilities of one token and by a ranking that is called as a tool."""

import pathlib

import report

# docs: begin
import pathlib

from alpaca_eval.annotators import PairwiseAnnotator
from alpaca_eval.constants import EVALUATORS_CONFIG_DIR

# The package's own evaluator, asked of the panel.
original = (EVALUATORS_CONFIG_DIR / "weighted_alpaca_eval_gpt4_turbo" / "configs.yaml").read_text()
folder = pathlib.Path("weighted_panel")
folder.mkdir(exist_ok=True)
(folder / "configs.yaml").write_text(original.replace("gpt-4-1106-preview", "panel"))
annotator = PairwiseAnnotator(annotators_config=folder.resolve(), caching_path=None)
pair = {"instruction": "What is the capital of Peru?", "output_1": "It is Quito.", "output_2": "It is Lima."}
[annotation] = annotator.annotate_pairs([pair])
print(annotation["preference"])  # from 1, the first, to 2, the second
# docs: end

PAIR = {"instruction": "What is the capital of France?", "output_1": "It is Lyon.", "output_2": "It is Paris."}


@report.step("one token")
def _():
    return report.expect(1.5 < annotation["preference"] <= 2, annotation)


for name, model in (("alpaca_eval_gpt4_turbo_fn", "gpt-4-1106-preview"), ("weighted_alpaca_eval_cot_gpt4_turbo", "gpt-4-1106-preview")):

    @report.step(name)
    def _():
        text = (EVALUATORS_CONFIG_DIR / name / "configs.yaml").read_text()
        place = pathlib.Path(f"{name}_panel")
        place.mkdir()
        (place / "configs.yaml").write_text(text.replace(model, "panel"))
        [found] = PairwiseAnnotator(annotators_config=place.resolve(), caching_path=None).annotate_pairs([PAIR])
        return report.expect(1.5 < found["preference"] <= 2, found)


report.end()
