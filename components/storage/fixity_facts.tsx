import type { ComponentChildren } from "preact";

import { ALL_SENTENCES } from "@/lib/presentation/coded_check_sentences.ts";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import { codedTexts } from "@/lib/presentation/coded_sentences.ts";
import {
  FIELD_LABELS,
  FIXITY_LABELS,
  FIXITY_SENTENCES,
  type FixityCheck,
  PROOF_WORDS,
  unwrittenSentence,
} from "@/lib/presentation/storage/fixity_check.ts";
import { fixityPath, folderPath, objectPath } from "@/lib/presentation/storage/storage_paths.ts";
import { KeyName } from "./key_name.tsx";

const PROOFS = Object.keys(PROOF_WORDS) as (keyof typeof PROOF_WORDS)[];

interface FixityFactsProps {
  readonly account: string;
  readonly check: FixityCheck;
}

/** What a fixity check was to do, and what its figures rest on. */
export function FixityFacts({ account, check }: FixityFactsProps) {
  const { bucket, prefix, etags, rate_limit, status, manifest, bag, baseline, written } = check;
  const proofs = PROOFS.filter((proof) => check.proved_by[proof] > 0);
  const unwritten = unwrittenSentence(check);
  const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const place = folderPath({ account, bucket, prefix: folder, find: prefix.slice(folder.length) });
  const options = [
    ...etags === "ignored" ? [FIELD_LABELS.etags] : [],
    ...check.all_versions ? [FIELD_LABELS.all_versions] : [],
    ...check.full ? [FIELD_LABELS.full] : [],
    ...rate_limit === null ? [] : [FIXITY_SENTENCES.atMost(FIXITY_SENTENCES.rate(formatBytes(rate_limit)))],
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
        {proofs.length > 0 && (
          <Fact name={FIXITY_LABELS.provedBy}>
            {proofs.map((proof) => FIXITY_SENTENCES.proved(check.proved_by[proof], PROOF_WORDS[proof])).join(", ")}
          </Fact>
        )}
        {manifest && manifest.keys.length > 0 && <Manifest account={account} bucket={bucket} manifest={manifest} />}
        {bag && <Bag bag={bag} />}
        {baseline !== null && (
          <Fact name={FIELD_LABELS.baseline}>
            <a class="vid" href={fixityPath({ account, bucket, task: baseline })}>{baseline}</a>
          </Fact>
        )}
        {written.length > 0 && (
          <Fact name={FIXITY_LABELS.written}>
            {written.map(({ key }) => <ObjectLink key={key} account={account} bucket={bucket} name={key} />)}
          </Fact>
        )}
      </dl>
      {check.unproven > 0 && <p class="remark">{FIXITY_SENTENCES.unprovenObjects(check.unproven)}</p>}
      {etags === "other" && <p class="remark">{FIXITY_SENTENCES.otherEtags}</p>}
      {status === "canceled" && <p class="remark">{FIXITY_SENTENCES.canceled}</p>}
      {unwritten !== "" && <p class="banner warn">{unwritten}</p>}
    </section>
  );
}

/** Keys of manifests that are shown; a bag may have several. */
const MAX_KEYS = 10;

interface ManifestProps {
  readonly account: string;
  readonly bucket: string;
  readonly manifest: NonNullable<FixityCheck["manifest"]>;
}

function Manifest({ account, bucket, manifest }: ManifestProps) {
  const { keys, entries, invalid_lines } = manifest;
  const figures = [
    ...entries === null
      ? []
      : [keys.length === 1 ? FIXITY_SENTENCES.manifestEntries(entries) : FIXITY_SENTENCES.manifestLines(entries)],
    ...invalid_lines > 0 ? [FIXITY_SENTENCES.invalidLines(invalid_lines)] : [],
  ];
  return (
    <Fact name={FIXITY_LABELS.inManifest}>
      {keys.slice(0, MAX_KEYS).map((key) => (
        <ObjectLink key={key} account={account} bucket={manifest.bucket ?? bucket} name={key} />
      ))}
      {keys.length > MAX_KEYS && <p>+ {formatCount(keys.length - MAX_KEYS)}</p>}
      {figures.length > 0 && <p class="sub">{figures.join(", ")}</p>}
    </Fact>
  );
}

function Bag({ bag }: { readonly bag: NonNullable<FixityCheck["bag"]> }) {
  if (bag.valid === null) return null;
  const problems = codedTexts(bag.problems, bag.problem_codes, ALL_SENTENCES);
  return (
    <Fact name={FIXITY_LABELS.bag}>
      {bag.valid ? FIXITY_SENTENCES.bagValid : FIXITY_SENTENCES.bagInvalid}
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
