/** Steps of pipelines, by their names in lower case. */
export const PIPELINE_STEPS = {
  segmentation: "Segmentation",
  wordsegmentation: "Word segmentation",
  imageclassification: "Image classification",
  readingorder: "Reading order",
  orderlines: "Order lines",
  textrecognition: "Text recognition",
  qualityprediction: "Quality prediction",
  export: "Export",
};
