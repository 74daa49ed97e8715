import type * as en from "@/locales/en/pipeline_steps.ts";

export const PIPELINE_STEPS: typeof en.PIPELINE_STEPS = {
  segmentation: "Segmentering",
  wordsegmentation: "Ordsegmentering",
  imageclassification: "Bildklassificering",
  readingorder: "Läsordning",
  orderlines: "Radordning",
  textrecognition: "Textigenkänning",
  qualityprediction: "Kvalitetsskattning",
  export: "Export",
};
