import type { XmlElement } from "./xml_tree.ts";

/** The owner of a bucket, an object or a version, members named as in S3. */
export interface Owner {
  readonly DisplayName: string | null;
  readonly ID: string | null;
}

/** The `Owner` child of an element; null where there is none. */
export function ownerIn(element: XmlElement): Owner | null {
  const ID = element.text("Owner", "ID");
  const DisplayName = element.text("Owner", "DisplayName");
  return ID === null && DisplayName === null ? null : { DisplayName, ID };
}
