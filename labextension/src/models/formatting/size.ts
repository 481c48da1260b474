/** Formatting of sizes. */

const UNITS = ['kB', 'MB', 'GB', 'TB'];

/** A size in powers of 1000 with three digits: `271 kB`. `foldnote.text` follows the same rules. */
export function formatSize(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 'B';
  for (const next of UNITS) {
    if (value < 999.5) {
      break;
    }
    value /= 1000;
    unit = next;
  }
  return `${unit === 'B' ? Math.round(value) : Number(value.toPrecision(3))} ${unit}`;
}
