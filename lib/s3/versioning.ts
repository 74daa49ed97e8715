import type { Caller } from "@/lib/auth/store_credentials.ts";
import { callS3, type S3 } from "./client.ts";
import { readXml } from "./read_xml.ts";
import { xmlDocument, xmlElement, xmlHeaders } from "./write_xml.ts";
import { readTree } from "./xml_tree.ts";

/** The states of a bucket's versioning; before it is first set it has none. */
export const VERSIONING_STATES = ["Enabled", "Suspended"] as const;
export type VersioningState = typeof VERSIONING_STATES[number];

interface Versioning {
  readonly status: VersioningState | null;
  readonly mfa_delete: string | null;
}

/** A bucket's versioning. @throws HttpError as {@link callS3} */
export async function getVersioning(s3: S3, caller: Caller, bucket: string): Promise<Versioning> {
  const resource = `bucket '${bucket}'`;
  const response = await callS3(s3, caller, { method: "GET", bucket, query: [["versioning", ""]], resource });
  return await readXml(response, parseVersioning, resource);
}

/** Sets a bucket's versioning. @throws HttpError as {@link callS3} */
export async function setVersioning(s3: S3, caller: Caller, bucket: string, status: VersioningState): Promise<void> {
  const body = xmlDocument("VersioningConfiguration", xmlElement("Status", status));
  const response = await callS3(s3, caller, {
    method: "PUT",
    bucket,
    query: [["versioning", ""]],
    headers: xmlHeaders(body),
    body,
    resource: `bucket '${bucket}'`,
  });
  await response.body?.cancel();
}

function parseVersioning(xml: string): Versioning {
  const root = readTree(xml, "VersioningConfiguration");
  const status = root.text("Status")?.trim();
  return {
    status: VERSIONING_STATES.find((known) => known === status) ?? null,
    mfa_delete: root.text("MfaDelete")?.trim() || null,
  };
}
