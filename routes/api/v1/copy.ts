import { z } from "zod";
import type { Operation } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { preconditions, sourcePreconditions } from "@/lib/s3/conditions.ts";
import { copyObject } from "@/lib/s3/copy.ts";
import { createFolder } from "@/lib/s3/objects.ts";
import { bucketName } from "@/lib/s3/name_schemas.ts";
import { bucketTarget, objectTarget } from "./audited_objects.ts";
import { bucketParams, conditional, CONDITIONS, objectParams } from "./object_parameters.ts";
import type { GatewayOperation } from "./operation.ts";

const TAG = "S3 Objects";

const copyRequest = z.object({
  source_bucket: bucketName,
  source_key: z.string().min(1).meta({ examples: ["2026/a.txt"] }),
}).meta({ id: "CopyRequest" });
const copied = z.object({ status: z.literal("copied"), bucket: z.string(), key: z.string() }).meta({ id: "Copied" });

const folderRequest = z.object({
  folder_name: z.string().regex(/[^/]/, "must be more than slashes").meta({ examples: ["2026/spring"] }),
}).meta({ id: "FolderCreate" });
const folder = z.object({ bucket: z.string(), key: z.string(), status: z.literal("created") }).meta({ id: "Folder" });

/** Objects that come from no client's bytes: copies and folders. */
export function copyOperations(operation: GatewayOperation, s3: S3): Operation[] {
  return [
    operation({
      id: "copy_object",
      method: "POST",
      path: "/api/v1/buckets/{bucket}/objects/{key}/copy",
      tag: TAG,
      summary: "Copy an object to this key",
      description: "Metadata goes with it. Objects above 5 GiB are copied in parts, inside the store. " +
        `${CONDITIONS} Those on the source have the prefix \`x-amz-copy-source-\`.`,
      params: objectParams,
      body: { kind: "json", schema: copyRequest },
      responses: {
        200: { description: "Copied; bucket and key are the copy's", schema: copied },
        404: { description: "No such source, or no such bucket" },
        ...conditional,
      },
      audit: {
        action: "object_copy",
        target: objectTarget,
        details: ({ body }) => ({ from_bucket: body.source_bucket, from_key: body.source_key }),
      },
      async handler({ caller, params: target, body }, { request: { headers } }) {
        await copyObject(s3, caller, { bucket: body.source_bucket, key: body.source_key }, target, {
          ofSource: sourcePreconditions(headers),
          ofTarget: preconditions(headers),
        });
        return Response.json({ status: "copied", bucket: target.bucket, key: target.key });
      },
    }),
    operation({
      id: "create_folder",
      method: "POST",
      path: "/api/v1/buckets/{bucket}/objects/folder",
      tag: TAG,
      summary: "Create a folder",
      description: "An empty object whose key ends with a slash, which is added where it is missing. One that exists " +
        `stays as it is. ${CONDITIONS}`,
      params: bucketParams,
      body: { kind: "json", schema: folderRequest },
      responses: {
        201: { description: "Created, or it exists", schema: folder },
        404: { description: "No such bucket" },
        409: { description: "An object with bytes has this key" },
        ...conditional,
      },
      audit: { action: "object_write", target: bucketTarget },
      async handler({ caller, params: { bucket }, body }, context) {
        const key = await createFolder(
          s3,
          caller,
          bucket,
          body.folder_name,
          preconditions(context.request.headers),
        );
        context.noted = { folder: key };
        return Response.json({ bucket, key, status: "created" }, { status: 201 });
      },
    }),
  ];
}
