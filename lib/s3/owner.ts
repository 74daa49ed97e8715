import type { XmlElement } from "./xml_tree.ts";

/** Who owns a bucket, an object or a version, members named as S3 names them. */
export interface Owner {
  readonly DisplayName: string | null;
  readonly ID: string | null;
}

/** The owner that an element has as a child; null where there is none. */
export function ownerIn(element: XmlElement): Owner | null {
  const ID = element.text("Owner", "ID");
  const DisplayName = element.text("Owner", "DisplayName");
  return ID === null && DisplayName === null ? null : { DisplayName, ID };
}
