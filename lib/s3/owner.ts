import { z } from "zod";
import type { XmlElement } from "./xml_tree.ts";

/** The owner of a bucket, an object or a version, members named as in S3. */
export const owner = z.object({ DisplayName: z.string().nullable(), ID: z.string().nullable() });
export type Owner = z.output<typeof owner>;

/** The `Owner` child of an element; null where there is none. */
export function ownerIn(element: XmlElement): Owner | null {
  const ID = element.text("Owner", "ID");
  const DisplayName = element.text("Owner", "DisplayName");
  return ID === null && DisplayName === null ? null : { DisplayName, ID };
}
