import { z } from "zod";
import { contentDisposition, fileNameOf } from "@/lib/http/header_values.ts";
import { boundedBody } from "@/lib/http/bounded_body.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { preconditions } from "@/lib/s3/conditions.ts";
import type { IssuedForms } from "@/lib/s3/listing.ts";
import { objectHeaders, readHeaders, writeHeaders } from "@/lib/s3/object_headers.ts";
import { deleteObject, getObject, headObject } from "@/lib/s3/objects.ts";
import { objectTarget, versionNote } from "./audited_objects.ts";
import { asObject, conditional, CONDITIONS, objectParams, versionId } from "./object_parameters.ts";
import type { GatewayOperation } from "./operation.ts";

const OBJECT = { path: "/api/v1/buckets/{bucket}/objects/{key}", tag: "S3 Objects", params: objectParams };

const versioned = (forms: IssuedForms | null) => z.object({ version_id: versionId(forms), as: asObject });

const MAX_FILENAME = 1024;

const read = (forms: IssuedForms | null) =>
  versioned(forms).extend({
    disposition: z.enum(["attachment", "inline"]).optional().meta({
      description: "Sends Content-Disposition, with the last segment of the key unless `filename` says another name",
    }),
    filename: z.string().min(1).max(MAX_FILENAME).optional().meta({
      description: "The name to save under; alone, it means `disposition=attachment`",
    }),
  });

const deleted = z.object({ status: z.literal("deleted"), bucket: z.string(), key: z.string() })
  .meta({ id: "ObjectDeleted" });

/** Single objects: read, looked at, deleted; bytes stream through. */
export function objectOperations(operation: GatewayOperation, s3: S3, forms: IssuedForms | null): Operation[] {
  return [
    operation({
      id: "get_object",
      method: "GET",
      ...OBJECT,
      summary: "Read an object, or a range of it",
      query: read(forms),
      responses: {
        200: { description: "The object", mediaType: "*/*" },
        206: { description: "The requested range", mediaType: "*/*" },
        304: { description: "Not modified" },
        404: { description: "No such bucket or object" },
        416: { description: "The range lies outside of the object" },
      },
      async handler({ caller, params: { bucket, key }, query }, context) {
        const response = await getObject(s3, caller, { bucket, key, versionId: query.version_id }, {
          headers: readHeaders(context.request.headers),
        });
        return new Response(boundedBody(response, context.info, s3.bounds), {
          status: response.status,
          headers: shown(response, key, query),
        });
      },
    }),
    operation({
      id: "head_object",
      method: "HEAD",
      ...OBJECT,
      summary: "The metadata of an object, as headers",
      query: read(forms),
      responses: { 200: { description: "It is there" }, 404: { description: "It is not" } },
      async handler({ caller, params: { bucket, key }, query }, context) {
        const response = await headObject(s3, caller, { bucket, key, versionId: query.version_id }, {
          headers: readHeaders(context.request.headers),
        });
        return new Response(null, { status: response.status, headers: shown(response, key, query) });
      },
    }),
    operation({
      id: "delete_object",
      method: "DELETE",
      ...OBJECT,
      summary: "Delete an object, or one version of it",
      description: CONDITIONS,
      query: versioned(forms),
      responses: {
        200: { description: "Deleted", schema: deleted },
        404: { description: "It was not there" },
        ...conditional,
      },
      audit: { action: "object_delete", target: objectTarget },
      async handler({ caller, params: { bucket, key }, query }, context) {
        const ref = { bucket, key, versionId: query.version_id };
        const headers = await deleteObject(s3, caller, ref, preconditions(context.request.headers));
        context.noted = versionNote(headers);
        return Response.json({ status: "deleted", bucket, key }, { headers: writeHeaders(headers) });
      },
    }),
  ];
}

/** The headers of an object, and the name to save it under where the query has one. */
function shown(
  response: Response,
  key: string,
  { disposition, filename }: z.output<ReturnType<typeof read>>,
): Record<string, string> {
  const headers = objectHeaders(response.headers);
  if (disposition ?? filename) {
    headers["content-disposition"] = contentDisposition(disposition ?? "attachment", filename ?? fileNameOf(key));
  }
  return headers;
}
