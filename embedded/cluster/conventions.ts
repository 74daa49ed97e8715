/** The names by which a cluster's campaign objects are known; the same as the reading side is set to. */
export interface ClusterConventions {
  /** Prefix of our labels and annotations, with its slash, such as `campaigns.example.org/`. */
  readonly labelDomain: string;
  /** `app` label of campaign Jobs and of warm-up Jobs. */
  readonly campaignApp: string;
  readonly warmupApp: string;
  /** Value of the `<domain>managed-by` label. */
  readonly managedBy: string;
  /** Prefix of the names of pipeline ConfigMaps. */
  readonly pipelinePrefix: string;
  /** Field managers that own parts of a status record. */
  readonly failuresManager: string;
  readonly applyManager: string;
}

/** The label keys in use under a set of conventions. */
export function labelKeys(conventions: ClusterConventions) {
  const { labelDomain } = conventions;
  return {
    managedBy: `${labelDomain}managed-by`,
    campaign: `${labelDomain}campaign`,
    pipeline: `${labelDomain}pipeline`,
    kind: `${labelDomain}kind`,
  } as const;
}
