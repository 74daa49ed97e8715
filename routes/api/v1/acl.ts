import { z } from "zod";
import type { Operation } from "@/lib/http/operation.ts";
import { getAcl, type NewAccessList, PERMISSIONS, putAcl } from "@/lib/s3/acl.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { supported } from "@/lib/s3/errors.ts";
import { FITS_XML } from "@/lib/s3/write_xml.ts";
import type { StorageBackend } from "./capabilities.ts";
import { bucketParams, objectParams } from "./object_parameters.ts";
import type { GatewayOperation } from "./operation.ts";

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
}).meta({ id: "AclUpdate", description: "The member that is absent stays as it is" });

const acl = z.object({
  owner: z.object({ ID: z.string().nullable(), DisplayName: z.string().nullable() }).nullable(),
  grants: z.array(z.object({
    Grantee: z.union([user.extend({ ID: z.string().nullable() }), group, mail]),
    Permission: z.string(),
  })),
}).meta({ id: "Acl" });

const lacking = { 501: { description: "The store has no access control lists" } };

/** What has access control lists: names and paths of its operations, and what a change returns beside its status. */
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
export function aclOperations(operation: GatewayOperation, s3: S3, backend: StorageBackend): Operation[] {
  return TARGETS.flatMap(({ id, at, what, absent, further }) => [
    operation({
      id: `get_${id}`,
      method: "GET",
      ...at,
      summary: `Who may do what with ${what}`,
      responses: { 200: { description: "The list", schema: acl }, 404: { description: absent }, ...lacking },
      handler: async ({ caller, params }) =>
        Response.json(await supported(`get_${id}`, backend, getAcl(s3, caller, params))),
    }),
    operation({
      id: `put_${id}`,
      method: "PUT",
      ...at,
      summary: `Set who may do what with ${what}`,
      body: { kind: "json", schema: aclUpdate },
      responses: {
        200: { description: "Set", schema: z.object({ status: z.literal("updated"), ...further.schema }) },
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
        await supported(`put_${id}`, backend, putAcl(s3, caller, params, newList(body)));
        return Response.json({ status: "updated", ...further.value });
      },
    }),
  ]);
}

function newList({ Owner, Grants }: z.output<typeof aclUpdate>): NewAccessList {
  return { owner: Owner, grants: Grants };
}
