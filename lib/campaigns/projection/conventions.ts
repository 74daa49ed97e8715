const STACKROOM = {
  /** Prefix of every label and annotation of campaigns, with its closing slash. */
  labelDomain: "campaigns.stackroom.dev/",
  /** Value of the label `app` on campaign Jobs. */
  campaignApp: "campaign-batch",
  /** Value of the label `app` on warm-up Jobs. */
  warmupApp: "campaign-warmup",
  /** Value of `<labelDomain>managed-by` on everything that belongs to a campaign. */
  managedBy: "converter",
  /** A pipeline's ConfigMap is called this plus the pipeline's id. */
  pipelinePrefix: "pipeline-",
  /** Field manager of the record's summary. */
  summaryManager: "stackroom-web",
  /** Field manager of the record's failures. */
  failuresManager: "stackroom-web-failures",
  /** Field manager of the tool that submits campaigns and records their ending. */
  applyManager: "stackroom-campaigns",
  /** The namespace served when neither a setting nor the pod names one. */
  defaultNamespace: "batch-default",
  /** Session cookie on plain HTTP; `__Host-` goes before it on HTTPS. Also the associated data of the sealed value. */
  cookieStem: "results_session",
};

/**
 * The names by which campaign objects are recognised in a cluster. They differ from one deployed system to another, so
 * they are one set of settings (`CAMPAIGN_CONVENTIONS`) and not repeated elsewhere in the code.
 */
export type Conventions = Readonly<typeof STACKROOM>;

export const CONVENTIONS: Readonly<Record<"stackroom" | "htrflow", Conventions>> = {
  stackroom: STACKROOM,
  htrflow: {
    labelDomain: "htrflow.riksarkivet.se/",
    campaignApp: "htrflow-batch",
    warmupApp: "htrflow-warmup",
    managedBy: "converter",
    pipelinePrefix: "htr-pipeline-",
    summaryManager: "htrflow-web",
    failuresManager: "htrflow-web-failures",
    applyManager: "htrflow-campaigns",
    defaultNamespace: "htr-batch",
    cookieStem: "htr_session",
  },
};

/** Prefix of the name of a campaign's ConfigMap: the rest is the Job's name. */
export const RECORD_PREFIX = "campaign-";
/** Suffix of the name of a campaign's status record, after the name of its ConfigMap. */
export const STATUS_SUFFIX = "-status";
/** The Job controller's label with the index of a pod, which is its volume. */
export const POD_INDEX_LABEL = "batch.kubernetes.io/job-completion-index";
/** The Job controller's label with the Job of a pod. */
export const POD_JOB_LABEL = "batch.kubernetes.io/job-name";

/** The label with the queue that admits a Job (Kueue). */
export const QUEUE_LABEL = "kueue.x-k8s.io/queue-name";

/** The labels that campaign objects carry under one set of conventions. */
export function labelNames({ labelDomain }: Conventions) {
  return {
    managedBy: `${labelDomain}managed-by`,
    /** The campaign file's name: the same for all parts of a campaign that was split. */
    campaign: `${labelDomain}campaign`,
    pipeline: `${labelDomain}pipeline`,
    /** `status` on a status record, absent elsewhere. */
    kind: `${labelDomain}kind`,
  };
}

/** The label selectors for the lists of campaign objects under one set of conventions. */
export function selectors(conventions: Conventions) {
  const names = labelNames(conventions);
  const managed = `${names.managedBy}=${conventions.managedBy}`;
  return {
    /** Without the label `managed-by`, so that a Job that lacks only this is noticed; `readJob` checks both labels. */
    campaignJobs: `app=${conventions.campaignApp}`,
    warmupJobs: `app=${conventions.warmupApp}`,
    /** ConfigMaps with a campaign's volumes.txt; their metadata is enough for a list. */
    records: `${managed},${names.campaign},${names.kind}!=status`,
    statusRecords: `${managed},${names.campaign},${names.kind}=status`,
    pipelines: `${managed},${names.pipeline},!${names.campaign}`,
  };
}
