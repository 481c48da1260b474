/** The style sheets: views wait for them, also if they cannot be loaded, and the next call retries. */
import { beforeEach, describe, expect, it, vi } from 'vitest';

let fails = false;
let loads = 0;

describe('the style sheets', () => {
  beforeEach(() => {
    vi.resetModules();
    fails = false;
    loads = 0;
    vi.doMock('../style/index.js', () => {
      loads += 1;
      if (fails) {
        throw new Error('404');
      }
      return {};
    });
  });

  it('are loaded once', async () => {
    const styles = await import('../src/styles');
    expect(styles.areStylesSettled()).toBe(false);
    await Promise.all([styles.loadStyles(), styles.loadStyles()]);
    await styles.loadStyles();
    expect([styles.areStylesSettled(), loads]).toEqual([true, 1]);
  });

  it('do not block views if they cannot be loaded, and are requested again', async () => {
    const complaint = vi.spyOn(console, 'warn').mockImplementation(() => undefined);
    const styles = await import('../src/styles');
    fails = true;
    await styles.loadStyles();
    expect(styles.areStylesSettled()).toBe(true);
    expect(complaint).toHaveBeenCalledOnce();
    fails = false;
    await styles.loadStyles();
    expect(loads).toBe(2);
    expect(complaint).toHaveBeenCalledOnce();
  });
});
