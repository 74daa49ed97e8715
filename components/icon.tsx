const PATHS = {
  fold: "M6 4l4 4-4 4",
  system: "M8 2a6 6 0 1 0 0 12z M8 2a6 6 0 0 1 0 12",
  light:
    "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6z M8 1v1.5 M8 13.5V15 M1 8h1.5 M13.5 8H15 M3 3l1 1 M12 12l1 1 M13 3l-1 1 M4 12l-1 1",
  dark: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z",
} as const;

type IconName = keyof typeof PATHS;

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
