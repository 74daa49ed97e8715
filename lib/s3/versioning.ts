import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { callS3ForHeaders, type S3 } from "./client.ts";
import { callS3ForXml } from "./read_xml.ts";
import { xmlBody, xmlElement } from "./write_xml.ts";
import { readTree } from "./xml_tree.ts";

/** The states of a bucket's versioning; before it is first set it has none. */
export const VERSIONING_STATES = ["Enabled", "Suspended"] as const;
export type VersioningState = typeof VERSIONING_STATES[number];

export const versioning = z.object({
  status: z.enum(VERSIONING_STATES).nullable().meta({ description: "Null: never switched on" }),
  mfa_delete: z.string().nullable(),
});
type Versioning = z.output<typeof versioning>;

const QUERY = [["versioning", ""]] as const;

/** A bucket's versioning. @throws HttpError as {@link callS3ForXml} */
export async function getVersioning(s3: S3, caller: Caller, bucket: string): Promise<Versioning> {
  return await callS3ForXml(s3, caller, { method: "GET", bucket, query: QUERY }, parseVersioning);
}

/** Sets a bucket's versioning. @throws HttpError as {@link callS3ForHeaders} */
export async function setVersioning(s3: S3, caller: Caller, bucket: string, status: VersioningState): Promise<void> {
  const document = xmlBody("VersioningConfiguration", xmlElement("Status", status));
  await callS3ForHeaders(s3, caller, { method: "PUT", bucket, query: QUERY, ...document });
}

function parseVersioning(xml: string): Versioning {
  const root = readTree(xml, "VersioningConfiguration");
  const status = root.text("Status")?.trim();
  return {
    status: VERSIONING_STATES.find((known) => known === status) ?? null,
    mfa_delete: root.text("MfaDelete")?.trim() || null,
  };
}
