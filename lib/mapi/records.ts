import { z } from "zod";
import { badGateway } from "@/lib/http/errors.ts";

const SORT_ORDERS = { asc: "ascending", desc: "descending", ascending: "ascending", descending: "descending" } as const;

/** The query of every list (spec, Query parameters accepted by every list endpoint). */
export const listQuery = z.object({
  offset: z.int().min(0).optional().meta({ description: "Zero-based position of the first entry" }),
  count: z.int().min(0).optional().meta({ description: "Most entries to answer" }),
  sortType: z.string().optional().meta({ description: "Member to sort by" }),
  sortOrder: z.enum(["asc", "desc", "ascending", "descending"]).optional(),
  filterType: z.string().optional().meta({ description: "Member to filter on" }),
  filterString: z.string().optional().meta({ description: "What the member begins with, without regard to case" }),
  verbose: z.boolean().default(false).meta({ description: "Answer full records instead of names" }),
});

export type ListQuery = z.output<typeof listQuery>;

/** A list's query as the store wants it: HCP spells the sort orders out. */
export function storeListQuery(
  { sortOrder, ...query }: ListQuery,
): Record<string, string | number | boolean | undefined> {
  return { ...query, sortOrder: sortOrder && SORT_ORDERS[sortOrder] };
}

/** A list: names, or full records where they were asked for. The store's further members are kept. */
export const nameList = z.union([
  z.array(z.record(z.string(), z.unknown())),
  z.looseObject({ name: z.array(z.string()).nullable().default(null) }),
]).meta({ id: "NameList", description: "Names, or an array of full records with `verbose=true`" });

/** What the store answered, in the shape that was promised. @throws HttpError 502 when it is something else */
export function storeAnswer<S extends z.ZodType>(schema: S, body: unknown, resource: string): z.output<S> {
  const result = schema.safeParse(body);
  if (!result.success) throw badGateway(`${resource}: the store's answer is not MAPI's`);
  return result.data;
}

const text = z.string().nullish();
const whole = z.int().nullish();
const flag = z.boolean().nullish();
const permissions = z.object({ permission: z.array(z.string()) }).nullish();

/** Body of a namespace's creation; members beyond these are dropped. */
export const namespaceCreate = z.object({
  name: z.string().min(1).meta({ examples: ["field-notes"] }),
  description: text,
  hardQuota: z.string().nullish().meta({ description: "A number, a space and a unit", examples: ["50 GB"] }),
  softQuota: z.int().min(0).max(100).nullish().meta({ description: "Per cent of the hard quota" }),
  servicePlan: text,
  owner: text,
  ownerType: z.enum(["LOCAL", "EXTERNAL"]).nullish(),
  multipartUploadAutoAbortDays: z.int().nullish().meta({ description: "Days" }),
  hashScheme: z.enum(["MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512", "RIPEMD-160"]).nullish(),
  optimizedFor: z.enum(["CLOUD", "ALL"]).nullish(),
  directoryUsage: z.enum(["Balanced", "Unbalanced", "Default", "BALANCED", "UNBALANCED", "DEFAULT"]).nullish(),
  aclsUsage: z.enum(["NOT_ENABLED", "ENABLED", "ENFORCED", "NOT_ENFORCED"]).nullish(),
  retentionType: z.enum(["HCP", "S3"]).nullish(),
  enterpriseMode: flag,
  searchEnabled: flag,
  indexingEnabled: flag,
  indexingDefault: flag,
  customMetadataIndexingEnabled: flag,
  customMetadataValidationEnabled: flag,
  replicationEnabled: flag,
  readFromReplica: flag,
  allowErasureCoding: flag,
  serviceRemoteSystemRequests: flag,
  appendEnabled: flag,
  atimeSynchronizationEnabled: flag,
  allowPermissionAndOwnershipChanges: flag,
  authUsersAlwaysGrantedAllPermissions: flag,
  s3UnversionedOverwrite: flag,
  authMinimumPermissions: permissions,
  authAndAnonymousMinimumPermissions: permissions,
  versioningSettings: z.looseObject({ enabled: flag, prune: flag, pruneDays: whole, keepDeletionRecords: flag })
    .nullish(),
  tags: z.object({ tag: z.array(z.string()) }).nullish(),
}).meta({ id: "NamespaceCreate" });

export type NamespaceCreate = z.output<typeof namespaceCreate>;
