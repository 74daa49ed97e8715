import type { ComponentChildren } from "preact";

import { formatCount } from "@/lib/presentation/locale/figures.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import type { CheckedBag, CheckManifest, FixityCheck } from "@/lib/presentation/storage/fixity_check.ts";
import {
  FIXITY_LABELS,
  FIXITY_SENTENCES,
  proofWords,
  unwrittenSentence,
} from "@/lib/presentation/storage/fixity_sentences.ts";
import { fixityPath, folderPath, objectPath } from "@/lib/presentation/storage/storage_paths.ts";
import { KeyName } from "./key_name.tsx";

interface FixityFactsProps {
  readonly account: string;
  readonly check: FixityCheck;
}

/** What a fixity check was to do, and what its figures rest on. */
export function FixityFacts({ account, check }: FixityFactsProps) {
  const { bucket, prefix, rateLimit, provedBy, totals, status, manifest, bag, baseline, written, writeError } = check;
  const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const place = folderPath({ account, bucket, prefix: folder, find: prefix.slice(folder.length) });
  const options = [
    ...check.ignoresEtags ? [FIXITY_LABELS.ignoresEtags] : [],
    ...check.allVersions ? [FIXITY_LABELS.allVersions] : [],
    ...check.isFull ? [FIXITY_LABELS.full] : [],
    ...rateLimit === null ? [] : [FIXITY_SENTENCES.atMost(FIXITY_SENTENCES.rate(formatBytes(rateLimit)))],
  ];
  return (
    <section class="check-facts">
      <dl class="fact-list">
        <Fact name={FIXITY_LABELS.where}>
          <a href={place}>
            <KeyName name={`${bucket}/${prefix}`} />
          </a>
        </Fact>
        {options.length > 0 && <Fact name={FIXITY_LABELS.options}>{options.join(", ")}</Fact>}
        {provedBy.length > 0 && (
          <Fact name={FIXITY_LABELS.provedBy}>
            {provedBy.map(([proof, count]) => FIXITY_SENTENCES.proved(count, proofWords(proof))).join(", ")}
          </Fact>
        )}
        {manifest && <Manifest account={account} manifest={manifest} />}
        {bag && <Bag bag={bag} />}
        {baseline !== null && (
          <Fact name={FIXITY_LABELS.baseline}>
            <a class="vid" href={fixityPath({ account, bucket, task: baseline })}>{baseline}</a>
          </Fact>
        )}
        {written.length > 0 && (
          <Fact name={FIXITY_LABELS.written}>
            {written.map((key) => <ObjectLink key={key} account={account} bucket={bucket} name={key} />)}
          </Fact>
        )}
      </dl>
      {totals.unproven > 0 && <p class="remark">{FIXITY_SENTENCES.unprovenObjects(totals.unproven)}</p>}
      {check.hasOtherEtags && <p class="remark">{FIXITY_SENTENCES.otherEtags}</p>}
      {status === "canceled" && <p class="remark">{FIXITY_SENTENCES.canceled}</p>}
      {writeError !== "" && <p class="banner warn">{unwrittenSentence(check)}</p>}
    </section>
  );
}

/** Keys of manifests that are shown; a bag may have several. */
const MAX_KEYS = 10;

function Manifest({ account, manifest }: { readonly account: string; readonly manifest: CheckManifest }) {
  const { bucket, keys, entries, invalidLines } = manifest;
  const figures = [
    ...entries === null
      ? []
      : [keys.length === 1 ? FIXITY_SENTENCES.manifestEntries(entries) : FIXITY_SENTENCES.manifestLines(entries)],
    ...invalidLines > 0 ? [FIXITY_SENTENCES.invalidLines(invalidLines)] : [],
  ];
  return (
    <Fact name={FIXITY_LABELS.inManifest}>
      {keys.slice(0, MAX_KEYS).map((key) => <ObjectLink key={key} account={account} bucket={bucket} name={key} />)}
      {keys.length > MAX_KEYS && <p>+ {formatCount(keys.length - MAX_KEYS)}</p>}
      {figures.length > 0 && <p class="sub">{figures.join(", ")}</p>}
    </Fact>
  );
}

function Bag({ bag: { isValid, problems } }: { readonly bag: CheckedBag }) {
  if (isValid === null) return null;
  return (
    <Fact name={FIXITY_LABELS.bag}>
      {isValid ? FIXITY_SENTENCES.bagValid : FIXITY_SENTENCES.bagInvalid}
      {problems.length > 0 && <ul>{problems.map((problem) => <li key={problem}>{problem}</li>)}</ul>}
    </Fact>
  );
}

interface ObjectLinkProps {
  readonly account: string;
  readonly bucket: string;
  readonly name: string;
}

function ObjectLink({ account, bucket, name }: ObjectLinkProps) {
  return (
    <p>
      <a href={objectPath({ account, bucket, key: name })}>
        <KeyName name={name} />
      </a>
    </p>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
