"""alpaca_eval: pairs, by the probabilities of one token and by a ranking that is called as a tool."""

import report

# docs: begin
from alpaca_eval.annotators import PairwiseAnnotator

# The package's own evaluator. It asks for a GPT-4 of 2023, a name that the panel answers to.
annotator = PairwiseAnnotator(annotators_config="weighted_alpaca_eval_gpt4_turbo", caching_path=None)
pair = {"instruction": "What is the capital of Peru?", "output_1": "It is Quito.", "output_2": "It is Lima."}
[annotation] = annotator.annotate_pairs([pair])
print(annotation["preference"])  # from 1, the first is better, to 2, the second is
# docs: end

PAIR = {"instruction": "What is the capital of France?", "output_1": "It is Lyon.", "output_2": "It is Paris."}


@report.step("one token")
def _():
    return report.expect(1.5 < annotation["preference"] <= 2, annotation)


for name in ("alpaca_eval_gpt4_turbo_fn", "alpaca_eval_cot_gpt4_turbo_fn", "weighted_alpaca_eval_cot_gpt4_turbo"):

    @report.step(name)
    def _():
        [found] = PairwiseAnnotator(annotators_config=name, caching_path=None).annotate_pairs([PAIR])
        return report.expect(1.5 < found["preference"] <= 2, found)


report.end()
