import type { ComponentChildren } from "preact";

import { Moment } from "@/components/moment.tsx";
import type { MomentStyle } from "@/lib/presentation/moments.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import { OBJECT_LABELS, OBJECT_SENTENCES } from "@/lib/presentation/storage/object_sentences.ts";
import { type ObjectAddress, objectPath } from "@/lib/presentation/storage/storage_paths.ts";
import type { ObjectVersion, VersionPage } from "@/lib/presentation/storage/versions.ts";

interface VersionListProps {
  readonly address: ObjectAddress;
  readonly page: VersionPage;
  readonly style: MomentStyle;
  /** Controls of a version that is not the current one. */
  readonly controls?: (version: ObjectVersion) => ComponentChildren;
}

/** The versions of an object as a timeline, the newest first. */
export function VersionList({ address, page: { versions, isCut }, style, controls }: VersionListProps) {
  return (
    <>
      <ol class="times">
        {versions.map((version) => {
          const { id, isLatest, isMarker, changed, bytes } = version;
          const isShown = address.version === undefined ? isLatest : address.version === id;
          return (
            <li key={id} aria-current={isShown ? "true" : undefined}>
              <div>
                {isMarker
                  ? isLatest ? OBJECT_LABELS.deletedNow : OBJECT_LABELS.deleted
                  : (
                    <a href={objectPath({ ...address, version: isLatest ? undefined : id ?? undefined })}>
                      {isLatest ? OBJECT_LABELS.current : OBJECT_LABELS.older}
                    </a>
                  )}
                <small>
                  {changed !== null && <Moment at={changed} style={style} />}
                  {!isMarker && ` · ${formatBytes(bytes)}`}
                  {isShown && !isMarker && ` · ${OBJECT_LABELS.shownHere}`}
                </small>
              </div>
              {!isMarker && !isLatest && id !== null && controls?.(version)}
            </li>
          );
        })}
      </ol>
      {isCut && <p class="remark">{OBJECT_SENTENCES.versionsCut}</p>}
    </>
  );
}
