import { z } from "zod";
import { type HttpError, unprocessable } from "@/lib/http/errors.ts";
import { bucketName, objectKey, wellFormed } from "@/lib/s3/name_schemas.ts";

/** Slowest reading that can be asked for, bytes per second: below it, stores take a connection for dead. */
const MIN_RATE = 65_536;

/** A check that a request asks for. A schedule has the same members. */
export const fixityOrder = z.object({
  prefix: wellFormed.default("").meta({ description: "Empty: the whole bucket", examples: ["2026/"] }),
  rate: z.int().min(MIN_RATE).nullable().default(null).meta({
    description: "Bytes per second of this check; `FIXITY_RATE` bounds all of a process together",
  }),
  all_versions: z.boolean().default(false).meta({ description: "Reads older versions too" }),
  full: z.boolean().default(false).meta({ description: "Rows for objects that are intact too, up to 500,000" }),
  manifest: objectKey.nullable().default(null).meta({
    description: "Key of a manifest that is compared: of BagIt, or as sha256sum and its kin write them",
    examples: ["2026/manifest-sha256.txt"],
  }),
  manifest_bucket: bucketName.nullable().default(null).meta({ description: "Its bucket; this one when absent" }),
  manifest_root: wellFormed.nullable().default(null).meta({
    description: "The prefix below which its paths lie; the folder of its key when absent",
  }),
  bag: z.boolean().default(false).meta({
    description: "The prefix is a bag of BagIt: all its manifests and its Payload-Oxum are compared",
  }),
  baseline: z.uuid().nullable().default(null).meta({
    description: "An earlier check of this bucket with `full`, whose SHA-256s are compared",
  }),
  write: z.enum(["manifest", "bag"]).nullable().default(null).meta({
    description:
      "Writes `manifest-sha256.txt` into the folder of the prefix where nothing is damaged; `bag`: and makes " +
      "the prefix a bag of BagIt",
  }),
  overwrite: z.boolean().default(false).meta({ description: "Whether `write` may replace objects with other bytes" }),
  report_to: objectKey.nullable().default(null).meta({
    description: "A prefix in this bucket below which the report is written, as JSON and CSV",
    examples: ["reports/"],
  }),
  etags: z.enum(["compare", "ignore"]).default("compare").meta({
    description: "`ignore` for stores whose ETags are no MD5s although they look like them",
  }),
}).meta({ id: "FixityStart" });
export type FixityOrder = z.output<typeof fixityOrder>;

/** @throws HttpError 422 that names the field */
export function mustFitTogether(order: FixityOrder): void {
  const { manifest, manifest_bucket, manifest_root, bag, all_versions, prefix, write, overwrite, report_to, baseline } =
    order;
  if (manifest === null && manifest_bucket !== null) throw alone("manifest_bucket", "manifest");
  if (manifest === null && manifest_root !== null) throw alone("manifest_root", "manifest");
  if (bag && manifest !== null) {
    throw unprocessable("manifest: a bag has manifests of its own: leave out one of both", {
      code: "manifest_with_bag",
    });
  }
  if (bag && prefix !== "" && !prefix.endsWith("/")) {
    throw unprocessable("prefix: that of a bag is empty or ends with a slash", { code: "bag_prefix" });
  }
  if (write === "bag" && prefix !== "" && !prefix.endsWith("/")) {
    throw unprocessable("prefix: that of a bag that is written is empty or ends with a slash", {
      code: "written_bag_prefix",
    });
  }
  if (write === "bag" && report_to?.startsWith(`${prefix}data/`)) {
    throw unprocessable("report_to: lies in the payload of the bag that is written, whose manifest does not name it", {
      code: "report_in_payload",
    });
  }
  if (overwrite && write === null) throw alone("overwrite", "write");
  if (all_versions && (bag || manifest !== null || write !== null || baseline !== null)) {
    throw unprocessable("all_versions: manifests and earlier checks say nothing about older versions: leave it out", {
      code: "versions_not_compared",
    });
  }
}

function alone(field: string, other: string): HttpError {
  return unprocessable(`${field}: has no meaning without ${other}`, {
    code: "field_without_other",
    params: { field, other },
  });
}
