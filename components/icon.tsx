const PATHS = {
  fold: "M6 4l4 4-4 4",
  system: "M8 2a6 6 0 1 0 0 12z M8 2a6 6 0 0 1 0 12",
  light:
    "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6z M8 1v1.5 M8 13.5V15 M1 8h1.5 M13.5 8H15 M3 3l1 1 M12 12l1 1 M13 3l-1 1 M4 12l-1 1",
  dark: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z",
  previous: "M10 3.5L5.5 8l4.5 4.5",
  next: "M6 3.5L10.5 8 6 12.5",
  minus: "M3 8h10",
  plus: "M8 3v10M3 8h10",
  rotate: "M13 8.5a5 5 0 1 1-1.6-4M13 2v3h-3",
  fullScreen: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  wholePage: "M4 2.5h8v11H4zM6.5 8h3M8 6.500v3",
  spread: "M8 3.5C6.5 2.5 4.5 2.5 2.5 3v10c2-.5 4-.5 5.5.5 1.5-1 3.5-1 5.5-.5V3c-2-.5-4-.5-5.5.5zM8 3.500v10",
  download: "M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  close: "M4 4l8 8M12 4l-8 8",
  move: "M2 8h9M8 4.500L11.500 8 8 11.500M14 3v10",
  bin: "M2.500 4.500h11M6 4.500v-2h4v2M4 4.500l.700 9h6.600l.700-9",
  rename: "M3 13l.700-3L10.500 3.200l2.300 2.300L6 12.300z",
  thumbnails: "M3 3h10v10H3zM6.5 3v10",
  text: "M3 3h10v10H3zM9.5 3v10",
  about: "M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 7.5V11M8 5v.01",
  keys: "M2 4.500h12v7H2zM4.5 7h.01M7 7h.01M9.5 7h.01M11.5 7h.01M5 9.500h6",
  search: "M11.5 7a4.5 4.5 0 1 1-9 0 4.5 4.5 0 0 1 9 0zM10.4 10.4L14 14",
  up: "M3.5 10L8 5.5l4.5 4.5",
  down: "M3.5 6L8 10.5 12.5 6",
  manifest:
    "M6 2.5c-2 0-2 1-2 2.5S3.5 8 2 8c1.5 0 2 1.5 2 3s0 2.5 2 2.5M10 2.5c2 0 2 1 2 2.5s.5 3 2 3c-1.5 0-2 1.5-2 3s0 2.5-2 2.5",
  log: "M3 4h10M3 8h10M3 12h6",
  folder: "M2 12.500v-9h4.500l1.500 2h6v7z",
  bucket: "M3 4.500h10l-1.200 9H4.200zM2.500 4.500c0-1.200 2.500-2 5.500-2s5.500.8 5.500 2",
  file: "M4 2.500h5l3 3v8H4zM9 2.500v3h3",
  image: "M2.500 3h11v10h-11zM3 11.500l3-3.500 2.500 2.500 2-2 2.500 3M10.500 6h.01",
  archive: "M3 5.500h10v8H3zM2.500 2.500h11v3h-11zM6.500 8h3",
  leave: "M9.500 3h-6v10h6M6.500 8H14M11 5l3 3-3 3",
  upload: "M8 11V3M4.5 6.5L8 3l3.500 3.500M3 13.500h10",
  pause: "M5.500 3.500v9M10.500 3.500v9",
  print: "M4.5 6V2.5h7V6M4.500 11.500h-2V6h11v5.500h-2M4.500 9.500h7v4h-7z",
} as const;

export type IconName = keyof typeof PATHS;

/** A drawing beside a word, or in a control that has its own name: never read out. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill={name === "system" ? "currentColor" : "none"}
        fill-opacity={name === "system" ? "0.35" : undefined}
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}

interface ToolButtonProps {
  readonly icon: IconName;
  readonly name: string;
  /** The key that does the same, as it is shown. */
  readonly shortcut?: string;
  /** For a button that switches something. */
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

/** A button that shows a drawing and has a name. One that is disabled stays in the order of focus. */
export function ToolButton({ icon, name, shortcut, pressed, disabled = false, onClick }: ToolButtonProps) {
  return (
    <button
      class="btn square"
      type="button"
      aria-label={name}
      title={shortcut === undefined ? name : `${name} (${shortcut})`}
      aria-pressed={pressed}
      aria-disabled={disabled}
      onClick={() => disabled || onClick()}
    >
      <Icon name={icon} />
    </button>
  );
}
