import { ownBucket } from "./permitted.ts";
import { childWord } from "./read_xml.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Operation } from "./s3_operation.ts";
import { element, xmlResponse } from "./xml.ts";
import { xmlBody } from "./xml_body.ts";

/** GetBucketVersioning, for the bucket's owner: the response is empty for a bucket that never kept versions. */
export const getBucketVersioning: S3Operation = {
  name: "GetBucketVersioning",
  method: "GET",
  level: "bucket",
  marker: ["versioning"],
  parameters: [],
  handle: (call) => {
    const { versioning } = ownBucket(call, call.bucket);
    const status = versioning === "enabled" ? "Enabled" : "Suspended";
    return xmlResponse("VersioningConfiguration", versioning === "off" ? "" : element("Status", status));
  },
};

/** PutBucketVersioning, for the bucket's owner. */
export const putBucketVersioning: S3Operation = {
  name: "PutBucketVersioning",
  method: "PUT",
  level: "bucket",
  marker: ["versioning"],
  parameters: [],
  handle: async (call) => {
    const bucket = ownBucket(call, call.bucket);
    const configuration = await xmlBody(call.request, call.caller, "VersioningConfiguration");
    const status = childWord(configuration, "Status");
    if (status !== "Enabled" && status !== "Suspended") {
      throw new S3Error("MalformedXML", "Status must be Enabled or Suspended");
    }
    if ((childWord(configuration, "MfaDelete") ?? "Disabled") !== "Disabled") {
      throw new S3Error("NotImplemented", "MfaDelete is not provided");
    }
    const versioning = status === "Enabled" ? "enabled" : "suspended";
    await call.store.writer.change("setVersioning", { bucket: bucket.id, versioning });
    return new Response(null);
  },
};
