/** Random values from a seed, so that a property that fails does so again. */

/** Makes numbers, texts and choices. */
export class Random {
  constructor(private state: number) {}

  /** A whole number from 0 to before `end`. */
  below(end: number): number {
    // mulberry32, public domain (Tommy Ettinger)
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  /** One of the values. */
  pick<T>(values: readonly T[]): T {
    const value = values[this.below(values.length)];
    if (value === undefined) {
      throw new RangeError('There is nothing to pick from.');
    }
    return value;
  }

  /** Some of the values, in their order. */
  some<T>(values: readonly T[]): T[] {
    return values.filter(() => this.below(2) === 1);
  }

  /** A text of up to `longest` characters, hostile ones among them. */
  text(longest: number): string {
    const letters = [
      'a',
      'Z',
      '0',
      ' ',
      '"',
      "'",
      '\\',
      '\n',
      '\t',
      '{',
      '}',
      '%',
      '/',
      'é',
      '漢',
      '\u202e',
      '\u0000',
      '🧬'
    ];
    return Array.from({ length: this.below(longest + 1) }, () => this.pick(letters)).join('');
  }
}

/** Runs a check with a hundred seeds. */
export function forSeeds(check: (random: Random, seed: number) => void): void {
  for (let seed = 0; seed < 100; seed += 1) {
    check(new Random(seed), seed);
  }
}
