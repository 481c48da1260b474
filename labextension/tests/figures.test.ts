import { describe, expect, it } from 'vitest';

import figures from '../../tests/data/figures.json';
import { formatSize } from '../src/models/formatting/size';
import { formatCount } from '../src/models/formatting/text';
import { formatDuration } from '../src/models/formatting/time';

describe('figures', () => {
  it.each(figures.sizes as [number, string][])('writes %d bytes as %s, as Python does', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text);
  });

  it.each(figures.durations as [number, string][])('writes %d seconds as %s, as Python does', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  it.each(figures.counts as [number, string][])('writes a count of %d as %s, as Python does', (count, text) => {
    expect(formatCount(count)).toBe(text);
  });
});
