import { type HttpError, unprocessable } from "@/lib/http/errors.ts";

/** What a check is asked for, as a request or a schedule says it. */
export interface FixityOrder {
  readonly prefix: string;
  /** Bytes per second; null: as the process allows. */
  readonly rate: number | null;
  readonly allVersions: boolean;
  readonly full: boolean;
  readonly manifest: string | null;
  readonly manifestBucket: string | null;
  readonly manifestRoot: string | null;
  readonly bag: boolean;
  readonly etags: "compare" | "ignore";
  /** As `fixityRequest`. */
  readonly write: "manifest" | "bag" | null;
  readonly overwrite: boolean;
  readonly reportTo: string | null;
  /** Id of an earlier check; null: none. */
  readonly baseline: string | null;
  /** Name of the schedule; null: it was asked for by a request. */
  readonly schedule: string | null;
}

/** @throws HttpError 422 that names the field */
export function mustFitTogether(order: FixityOrder): void {
  const { manifest, manifestBucket, manifestRoot, bag, allVersions, prefix, write, overwrite, reportTo, baseline } =
    order;
  if (manifest === null && manifestBucket !== null) throw alone("manifest_bucket", "manifest");
  if (manifest === null && manifestRoot !== null) throw alone("manifest_root", "manifest");
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
  if (write === "bag" && reportTo?.startsWith(`${prefix}data/`)) {
    throw unprocessable("report_to: lies in the payload of the bag that is written, whose manifest does not name it", {
      code: "report_in_payload",
    });
  }
  if (overwrite && write === null) throw alone("overwrite", "write");
  if (allVersions && (bag || manifest !== null || write !== null || baseline !== null)) {
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
