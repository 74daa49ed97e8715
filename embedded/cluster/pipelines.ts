import { createHash } from "node:crypto";

/** What workers do with the pages of a campaign. */
export interface Pipeline {
  readonly id: string;
  /** The steps document, in YAML. */
  readonly document: string;
  /** The model of the recognition step. */
  readonly model: string;
  /** null: the pipeline does not pin it. */
  readonly revision: string | null;
  readonly scoresQuality: boolean;
}

export interface SamplePipeline extends Pipeline {
  /** Work of the warm-up, in seconds. */
  readonly warmupSeconds: number;
  /** What the warm-up ends with instead of success. */
  readonly warmupError: string | null;
}

/** SHA-256 of a pipeline's steps document, in hex. */
export function pipelineDigest({ document }: Pipeline): string {
  return createHash("sha256").update(document).digest("hex");
}

/** The revision of the model that predicts quality. */
export const QUALITY_REVISION = "b7e0d5529c1f4e6aa2d88f3013c7e94b5d60aa17";

function samplePipeline(facts: Omit<SamplePipeline, "document">): SamplePipeline {
  const revision = facts.revision === null ? "" : `\n        revision: ${facts.revision}`;
  const quality = !facts.scoresQuality ? "" : `
  - step: QualityPrediction
    settings:
      model_settings:
        model: Riksarkivet/page-quality-1
        model_kwargs:
          revision: ${QUALITY_REVISION}`;
  const document = `steps:
  - step: Segmentation
    settings:
      model: yolo
      model_settings:
        model: Riksarkivet/yolov9-lines-within-regions-1
  - step: TextRecognition
    settings:
      model: TrOCR
      model_settings:
        model: ${facts.model}${revision}
  - step: OrderLines${quality}
  - step: Export
    settings:
      format: alto
`;
  return { ...facts, document };
}

const LION = {
  model: "Riksarkivet/trocr-base-handwritten-hist-swe-2",
  revision: "4f1c2ab9d07e5c3816f2a7740be95d1c6e3f8a20",
  scoresQuality: true,
  warmupSeconds: 80,
  warmupError: null,
};

export const LION_V1 = samplePipeline({ ...LION, id: "swedish-lion-v1", revision: null, scoresQuality: false });
export const LION_V2 = samplePipeline({ ...LION, id: "swedish-lion-v2" });
export const CHURCH_BOOKS = samplePipeline({ ...LION, id: "church-books-v1.2", warmupSeconds: 160 });
export const COURT_RECORDS = samplePipeline({ ...LION, id: "court-records-v2.0", warmupSeconds: 60 });
/** Its warm-up fails, so no volume of its campaigns starts. */
export const MAPS = samplePipeline({
  id: "maps-v1",
  model: "Riksarkivet/yolov9-regions-1",
  revision: null,
  scoresQuality: false,
  warmupSeconds: 45,
  warmupError: "No space left on device: /data/models/maps-v1",
});

const ALL = [LION_V1, LION_V2, CHURCH_BOOKS, COURT_RECORDS, MAPS];

/** The sample pipeline of an id. */
export function samplePipelineOf(id: string): SamplePipeline | undefined {
  return ALL.find((pipeline) => pipeline.id === id);
}
