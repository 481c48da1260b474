/** Sizes as people say them. */

const UNITS = ['kB', 'MB', 'GB', 'TB'];

/** A size in bytes: `271 kB`. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let unit = 'B';
  for (const next of UNITS) {
    if (value < 1000) {
      break;
    }
    value /= 1000;
    unit = next;
  }
  return `${unit === 'B' ? value : Number(value.toPrecision(3))} ${unit}`;
}
