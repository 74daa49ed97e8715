import { z } from "zod";
import { returned } from "./fields.ts";
import { REPORT_TIME } from "./store_rules.ts";

export const statistics = z.looseObject({
  objectCount: returned.whole("Objects, old versions counted"),
  ingestedVolume: returned.whole("Bytes as they were written"),
  storageCapacityUsed: returned.whole("Bytes on the disks"),
  customMetadataCount: returned.whole("Annotations"),
  customMetadataSize: returned.whole("Bytes of annotations"),
  shredCount: returned.whole("Objects that wait to be shredded"),
  shredSize: returned.whole("Bytes that wait to be shredded"),
}).meta({ id: "Statistics" });

export const chargebackQuery = z.object({
  start: z.string().meta({ ...REPORT_TIME }).optional().meta({
    description: "ISO 8601",
    examples: ["2026-11-01T00:00:00+0000"],
  }),
  end: z.string().meta({ ...REPORT_TIME }).optional().meta({ description: "ISO 8601" }),
  granularity: z.enum(["hour", "day", "total"]).default("total"),
});

/** One interval; the store's members beyond these are dropped. */
const chargebackEntry = z.object({
  systemName: returned.text("The store"),
  tenantName: returned.text("The tenant"),
  namespaceName: returned.text("The namespace; null in sums over a tenant"),
  startTime: returned.text("Begin of the interval"),
  endTime: returned.text("End of the interval"),
  objectCount: returned.whole("Objects at the end of the interval"),
  ingestedVolume: returned.whole("Bytes at the end of the interval"),
  storageCapacityUsed: returned.whole("Bytes on the disks at the end of the interval"),
  bytesIn: returned.whole("Bytes written within the interval"),
  bytesOut: returned.whole("Bytes read within the interval"),
  reads: returned.whole("Reads within the interval"),
  writes: returned.whole("Writes within the interval"),
  deletes: returned.whole("Deletes within the interval"),
  multipartObjects: returned.whole("Objects assembled from parts"),
  multipartObjectParts: returned.whole("Their parts"),
  multipartObjectBytes: returned.whole("Their bytes"),
  multipartUploads: returned.whole("Uploads under way"),
  multipartUploadParts: returned.whole("Their parts"),
  multipartUploadBytes: returned.whole("Their bytes"),
  deleted: z.preprocess((value) => typeof value === "boolean" ? String(value) : value, z.string())
    .meta({ type: "string" }).nullable().default(null).meta({ description: "`false`, or `included`" }),
  valid: returned.flag("Whether the store vouches for the figures"),
}).meta({ id: "ChargebackEntry" });

export const chargebackReport = z.object({ chargebackData: z.array(chargebackEntry).nullable().default(null) })
  .meta({ id: "ChargebackReport" });
