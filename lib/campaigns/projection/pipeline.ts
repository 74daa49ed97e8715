import { parseDocument, visit } from "yaml";
import { entries, isLonger, member, stringAt } from "@/lib/std/untrusted.ts";
import { NO_PIPELINE, type Pipeline, type PipelineModel } from "./types.ts";

/** Longest pipeline document that is parsed, characters; a longer one is shown only. */
export const MAX_PIPELINE_CHARACTERS = 64 * 1024;

/**
 * Reads a pipeline's ConfigMap (null: it is gone). A document that cannot be read as YAML 1.1, or only with guesses,
 * has no steps and is still shown. Never throws.
 */
export function readPipeline(configMap: unknown): Pipeline {
  const yaml = stringAt(configMap, "data", "pipeline.yaml");
  if (yaml === null) return NO_PIPELINE;
  const listed = entries(member(safelyParsed(yaml), "steps")).filter((step) => stringAt(step, "step") !== null);
  const steps = listed.map((step) => stringAt(step, "step") ?? "");
  return {
    steps,
    models: listed.flatMap(modelOf),
    yaml,
    scoresQuality: steps.some((step) => step.toLowerCase() === "qualityprediction"),
  };
}

/** Aliases of a document, with and without merge keys; pipelines that people write have a handful. */
const MAX_ALIASES = 1000;
const MAX_MERGED_ALIASES = 20;

function safelyParsed(yaml: string): unknown {
  if (isLonger(yaml, MAX_PIPELINE_CHARACTERS)) return undefined;
  try {
    // Warnings would go to the log, with what they are about.
    const options = { version: "1.1", uniqueKeys: false, prettyErrors: false, logLevel: "error" } as const;
    const document = parseDocument(yaml, options);
    if (document.errors.length > 0 || document.warnings.length > 0) return undefined;
    let aliases = 0;
    let merges = false;
    visit(document, {
      Scalar(_key, scalar) {
        if (scalar.source === "<<") merges = true;
        rejectInvalidDate(scalar.value, scalar.source);
      },
      Alias: () => void aliases++,
    });
    // Plain aliases share one object, but a merge copies what it names again at every level: few levels of many aliases
    // would take minutes.
    if (aliases > (merges ? MAX_MERGED_ALIASES : MAX_ALIASES)) return undefined;
    return document.toJS({ maxAliasCount: -1 });
  } catch {
    return undefined;
  }
}

/** The parser reads 2024-02-31 as the second of March; other parsers reject the whole document. */
function rejectInvalidDate(value: unknown, source: string | undefined): void {
  if (!(value instanceof Date)) return;
  const [year, month, day, hour = 0, minute = 0, second = 0] = (source?.match(/\d+/g) ?? []).map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  const isReal = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!isReal || hour > 23 || minute > 59 || second > 59) throw new RangeError("no such time");
}

function modelOf(step: unknown): PipelineModel[] {
  const settings = member(step, "settings", "model_settings");
  const model = stringAt(settings, "model");
  if (!model) return [];
  const revision = stringAt(settings, "revision") || stringAt(settings, "model_kwargs", "revision");
  return [{ model, revision: revision || null }];
}
