import { z } from "zod";
import { answered } from "./fields.ts";
import { REPORT_TIME } from "./store_rules.ts";

export const statistics = z.looseObject({
  objectCount: answered.whole("Objects, old versions counted"),
  ingestedVolume: answered.whole("Bytes as they were written"),
  storageCapacityUsed: answered.whole("Bytes on the disks"),
  customMetadataCount: answered.whole("Annotations"),
  customMetadataSize: answered.whole("Bytes of annotations"),
  shredCount: answered.whole("Objects that wait to be shredded"),
  shredSize: answered.whole("Bytes that wait to be shredded"),
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
  systemName: answered.text("The store"),
  tenantName: answered.text("The tenant"),
  namespaceName: answered.text("The namespace; null in sums over a tenant"),
  startTime: answered.text("Begin of the interval"),
  endTime: answered.text("End of the interval"),
  objectCount: answered.whole("Objects at the end of the interval"),
  ingestedVolume: answered.whole("Bytes at the end of the interval"),
  storageCapacityUsed: answered.whole("Bytes on the disks at the end of the interval"),
  bytesIn: answered.whole("Bytes written within the interval"),
  bytesOut: answered.whole("Bytes read within the interval"),
  reads: answered.whole("Reads within the interval"),
  writes: answered.whole("Writes within the interval"),
  deletes: answered.whole("Deletes within the interval"),
  multipartObjects: answered.whole("Objects made of parts"),
  multipartObjectParts: answered.whole("Their parts"),
  multipartObjectBytes: answered.whole("Their bytes"),
  multipartUploads: answered.whole("Uploads under way"),
  multipartUploadParts: answered.whole("Their parts"),
  multipartUploadBytes: answered.whole("Their bytes"),
  deleted: z.preprocess((value) => typeof value === "boolean" ? String(value) : value, z.string())
    .meta({ type: "string" }).nullable().default(null).meta({ description: "`false`, or `included`" }),
  valid: answered.flag("Whether the store vouches for the figures"),
}).meta({ id: "ChargebackEntry" });

export const chargebackReport = z.object({ chargebackData: z.array(chargebackEntry).nullable().default(null) })
  .meta({ id: "ChargebackReport" });
