import { z } from "zod";
import type { Operation } from "@/lib/http/operation.ts";
import {
  deleteCors,
  getAcl,
  getCors,
  getVersioning,
  type NewAccessList,
  PERMISSIONS,
  putAcl,
  putCors,
  setVersioning,
  versioning,
  VERSIONING_STATES,
} from "@/lib/s3/buckets.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { FITS_XML } from "@/lib/s3/s3_xml.ts";
import { bucketParams, bucketTarget, type GatewayOperation, objectParams } from "./operation.ts";

const SETTING = { tag: "S3 Buckets", params: bucketParams };
const VERSIONING = { path: "/api/v1/buckets/{bucket}/versioning", ...SETTING };
const CORS = { path: "/api/v1/buckets/{bucket}/cors", ...SETTING };
/** Most rules of a bucket (S3 API, PutBucketCors), and most entries of each list in one. */
const MAX_RULES = 100;
const MAX_ENTRIES = 1000;
/** The largest number S3 takes: 32 bits with a sign. */
const MAX_AGE_SECONDS = 2 ** 31 - 1;

/** S3's spelling of a state, whatever the case it was written in. */
const state = z.string().meta({ pattern: inAnyCase(VERSIONING_STATES) })
  .transform((word) => VERSIONING_STATES.find((known) => known.toLowerCase() === word.toLowerCase()) ?? word)
  .pipe(z.enum(VERSIONING_STATES));
const versioningUpdate = z.object({
  status: state.meta({ description: "Enabled or Suspended, in any case", examples: ["Enabled"] }),
}).meta({ id: "VersioningUpdate" });
const versioningUpdated = z.object({ status: z.literal("updated"), versioning: z.enum(VERSIONING_STATES) });

/** A list of texts; the document shows what S3 asks of each, and the store checks it. */
const texts = (rule: { readonly pattern?: string; readonly enum?: string[] }) =>
  z.array(z.string().meta({ ...FITS_XML, ...rule })).max(MAX_ENTRIES);

/** A field name (RFC 9110, section 5.1), in whose place S3 takes one `*`, or a part of it. */
const HEADER_NAMES = { pattern: "^(?!.*\\*.*\\*)[!#$%&'*+.^_`|~0-9A-Za-z-]+$" };
const HEADER_NAME = { pattern: "^[!#$%&'+.^_`|~0-9A-Za-z-]+$" };
const ORIGINS = { pattern: "^(?!.*\\*.*\\*)[!-~]+$" };
const corsRule = z.strictObject({
  ID: z.string().meta({ ...FITS_XML, maxLength: 255 }).nullish().meta({ description: "Up to 255 characters" }),
  AllowedHeaders: texts(HEADER_NAMES).nullish().meta({ examples: [["*"]] }),
  AllowedMethods: texts({ enum: ["GET", "PUT", "POST", "DELETE", "HEAD"] }).optional().meta({
    minItems: 1,
    examples: [["GET", "PUT"]],
  }),
  AllowedOrigins: texts(ORIGINS).optional().meta({ minItems: 1, examples: [["https://www.example.org"]] }),
  ExposeHeaders: texts(HEADER_NAME).nullish().meta({
    description: "Browsers need `ETag` to upload parts",
    examples: [["ETag"]],
  }),
  MaxAgeSeconds: z.int().min(0).max(MAX_AGE_SECONDS).nullish().meta({
    description: "Seconds that a browser may cache a preflight response",
    examples: [3600],
  }),
}).meta({
  id: "CorsRule",
  required: ["AllowedMethods", "AllowedOrigins"],
});
const corsUpdate = z.object({ CORSRules: z.array(corsRule).max(MAX_RULES).meta({ minItems: 1 }) })
  .meta({ id: "CorsUpdate" });
const corsRules = z.object({ cors_rules: z.array(corsRule) }).meta({ id: "BucketCors" });
const settingDone = <S extends string>(word: S) => z.object({ status: z.literal(word), bucket: z.null() });

const missing = { 404: { description: "No such bucket" } };
const lacking = { 501: { description: "The store does not support this operation" } };

/** Settings of buckets that S3 knows: versioning and CORS rules. */
export function bucketSettingOperations(
  operation: GatewayOperation,
  s3: S3,
): Operation[] {
  return [
    operation({
      id: "get_bucket_versioning",
      method: "GET",
      ...VERSIONING,
      summary: "Get the versioning state of a bucket",
      responses: {
        200: { description: "The versioning state", schema: versioning.meta({ id: "BucketVersioning" }) },
        ...missing,
        ...lacking,
      },
      handler: async ({ caller, params: { bucket } }) => Response.json(await getVersioning(s3, caller, bucket)),
    }),
    operation({
      id: "put_bucket_versioning",
      method: "PUT",
      ...VERSIONING,
      summary: "Enable or suspend versioning of a bucket",
      body: { kind: "json", schema: versioningUpdate },
      responses: { 200: { description: "Versioning changed", schema: versioningUpdated }, ...missing, ...lacking },
      audit: {
        action: "bucket_settings",
        target: bucketTarget,
        details: ({ body: { status } }) => ({ settings: "versioning", versioning: status }),
      },
      async handler({ caller, params: { bucket }, body }) {
        await setVersioning(s3, caller, bucket, body.status);
        return Response.json({ status: "updated", versioning: body.status });
      },
    }),
    operation({
      id: "get_bucket_cors",
      method: "GET",
      ...CORS,
      summary: "Get the CORS rules of a bucket",
      responses: {
        200: { description: "The CORS rules", schema: corsRules },
        404: { description: "No such bucket, or no CORS rules" },
        ...lacking,
      },
      handler: async ({ caller, params: { bucket } }) =>
        Response.json({ cors_rules: await getCors(s3, caller, bucket) }),
    }),
    operation({
      id: "put_bucket_cors",
      method: "PUT",
      ...CORS,
      summary: "Replace the CORS rules of a bucket",
      body: { kind: "json", schema: corsUpdate },
      responses: {
        200: { description: "CORS rules replaced", schema: settingDone("updated") },
        ...missing,
        ...lacking,
      },
      audit: { action: "bucket_settings", target: bucketTarget, details: () => ({ settings: "cors" }) },
      async handler({ caller, params: { bucket }, body }) {
        await putCors(s3, caller, bucket, body.CORSRules);
        return Response.json({ status: "updated", bucket: null });
      },
    }),
    operation({
      id: "delete_bucket_cors",
      method: "DELETE",
      ...CORS,
      summary: "Delete the CORS rules of a bucket",
      responses: { 200: { description: "Deleted", schema: settingDone("deleted") }, ...missing, ...lacking },
      audit: { action: "bucket_settings", target: bucketTarget, details: () => ({ settings: "cors", removed: true }) },
      async handler({ caller, params: { bucket } }) {
        await deleteCors(s3, caller, bucket);
        return Response.json({ status: "deleted", bucket: null });
      },
    }),
  ];
}

/** The pattern of words in any case, which has to do without a flag. */
function inAnyCase(words: readonly string[]): string {
  const anyCase = (word: string) => word.replace(/[A-Za-z]/g, (c) => `[${c.toUpperCase()}${c.toLowerCase()}]`);
  return `^(?:${words.map(anyCase).join("|")})$`;
}

/** Most grants of a list (S3 API, access control lists). */
const MAX_GRANTS = 100;

/** A member of another kind of grantee may stand there as null, as in lists that clients read and send back. */
const none = z.null().optional();
const text = z.string().meta({ ...FITS_XML });
const name = z.string().min(1).meta({ ...FITS_XML });

const user = z.strictObject({
  Type: z.literal("CanonicalUser"),
  ID: name,
  DisplayName: text.nullish(),
  URI: none,
  EmailAddress: none,
});
const group = z.strictObject({
  Type: z.literal("Group"),
  URI: z.string().min(1).meta({ ...FITS_XML, examples: ["http://acs.amazonaws.com/groups/global/AuthenticatedUsers"] }),
  ID: none,
  DisplayName: none,
  EmailAddress: none,
});
const mail = z.strictObject({
  Type: z.literal("AmazonCustomerByEmail"),
  EmailAddress: name,
  ID: none,
  DisplayName: none,
  URI: none,
});
const grant = z.strictObject({
  Grantee: z.discriminatedUnion("Type", [user, group, mail]),
  Permission: z.enum(PERMISSIONS),
}).meta({ id: "Grant" });

const aclUpdate = z.strictObject({
  Owner: z.strictObject({ ID: name, DisplayName: text.nullish() }).nullish(),
  Grants: z.array(grant).max(MAX_GRANTS).nullish(),
}).meta({ id: "AclUpdate", description: "An absent member stays unchanged" });

const acl = z.object({
  owner: z.object({ ID: z.string().nullable(), DisplayName: z.string().nullable() }).nullable(),
  grants: z.array(z.object({
    Grantee: z.union([user.extend({ ID: z.string().nullable() }), group, mail]),
    Permission: z.string(),
  })),
}).meta({ id: "Acl" });

/** The kinds of resources with access control lists: names and paths of its operations, and what a change returns beside its status. */
const TARGETS = [
  {
    id: "bucket_acl",
    at: { path: "/api/v1/buckets/{bucket}/acl", tag: "S3 Buckets", params: bucketParams },
    what: "a bucket",
    absent: "No such bucket",
    further: { schema: { bucket: z.null() }, value: { bucket: null } },
  },
  {
    id: "object_acl",
    at: { path: "/api/v1/buckets/{bucket}/objects/{key}/acl", tag: "S3 Objects", params: objectParams },
    what: "an object",
    absent: "No such bucket or object",
    further: { schema: {}, value: {} },
  },
] as const;

/** Access control lists of buckets and objects. */
export function aclOperations(operation: GatewayOperation, s3: S3): Operation[] {
  return TARGETS.flatMap(({ id, at, what, absent, further }) => [
    operation({
      id: `get_${id}`,
      method: "GET",
      ...at,
      summary: `Get the access list of ${what}`,
      responses: { 200: { description: "The access list", schema: acl }, 404: { description: absent }, ...lacking },
      handler: async ({ caller, params }) => Response.json(await getAcl(s3, caller, params)),
    }),
    operation({
      id: `put_${id}`,
      method: "PUT",
      ...at,
      summary: `Set the access list of ${what}`,
      body: { kind: "json", schema: aclUpdate },
      responses: {
        200: { description: "Access list set", schema: z.object({ status: z.literal("updated"), ...further.schema }) },
        404: { description: `${absent}, or no such account or group` },
        ...lacking,
      },
      audit: {
        action: id,
        target: (
          { params: { bucket, key } }: { readonly params: { readonly bucket: string; readonly key?: string } },
        ) => key === undefined ? { kind: "bucket", bucket } : { kind: "object", bucket, key },
        details: ({ body }) => ({ grants: body.Grants?.length }),
      },
      async handler({ caller, params, body }) {
        await putAcl(s3, caller, params, newList(body));
        return Response.json({ status: "updated", ...further.value });
      },
    }),
  ]);
}

function newList({ Owner, Grants }: z.output<typeof aclUpdate>): NewAccessList {
  return { owner: Owner, grants: Grants };
}
