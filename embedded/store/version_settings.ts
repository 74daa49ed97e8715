/** How a bucket keeps versions, beside whether it does (management API, versioningSettings). */
export interface VersionSettings {
  /** Whether old versions are removed … */
  prune: boolean;
  /** … once they have been old for so many days. */
  pruneDays: number;
  /** Whether a deleted key gets a marker. Its versions stay either way. */
  useDeleteMarkers: boolean;
  /** Whether what was deleted for good leaves a record, which keeps the bucket from being deleted. */
  keepDeletionRecords: boolean;
}

/** What holds of a bucket where nothing was set: what clients of S3 expect. */
const DEFAULTS: VersionSettings = { prune: false, pruneDays: 0, useDeleteMarkers: true, keepDeletionRecords: false };

/** The settings that the index keeps as JSON of what was set, over the defaults. */
export function versionSettings(kept: string): VersionSettings {
  return kept === "{}" ? DEFAULTS : { ...DEFAULTS, ...JSON.parse(kept) };
}
