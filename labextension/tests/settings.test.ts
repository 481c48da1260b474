/** What JupyterLab's settings say to the extension, and 3Dmol.js for outputs. */
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import schema from '../schema/plugin.json';
import { COLORINGS, SettingsModel, DEFAULT_SETTINGS } from '../src/models/service/settings';
import { followSettings, readSettings } from '../src/settingsEditor';
import { LazyPromise } from '../src/plugins/viewer3d';
import { forSeeds } from './random';

describe('settings', () => {
  it('have the same defaults in code as in the schema', () => {
    expect(readSettings({})).toEqual(DEFAULT_SETTINGS);
    const defaults = Object.fromEntries(
      Object.entries(schema.properties).map(([name, { default: value }]) => [name, value])
    );
    expect(readSettings(defaults as ReadonlyPartialJSONObject)).toEqual(DEFAULT_SETTINGS);
  });

  it('are read from the user’s values', () => {
    expect(
      readSettings({
        notifications: false,
        browserNotifications: true,
        profile: 'lab',
        pollSeconds: 30,
        undoSeconds: 0,
        colors: 'chain'
      })
    ).toEqual({
      hasNotifications: false,
      hasBrowserNotifications: true,
      profile: 'lab',
      pollSeconds: 30,
      undoSeconds: 0,
      colors: 'chain'
    });
  });

  it('offer the same colourings in the settings editor as in code', () => {
    expect(schema.properties.colors.oneOf.map(each => each.const)).toEqual([...COLORINGS]);
  });

  it('that are invalid are replaced by defaults, whatever their value', () => {
    forSeeds(random => {
      const value = (): ReadonlyPartialJSONObject[string] =>
        random.pick([null, -1, 1.5, '', random.text(8), true, false, [1], { a: 1 }]);
      const read = readSettings({
        notifications: value(),
        browserNotifications: value(),
        profile: value(),
        pollSeconds: value(),
        undoSeconds: value(),
        colors: value()
      });
      expect(typeof read.hasNotifications).toBe('boolean');
      expect(typeof read.hasBrowserNotifications).toBe('boolean');
      expect(read.profile).not.toBe('');
      expect(Math.min(read.pollSeconds, read.undoSeconds)).toBeGreaterThanOrEqual(0);
      expect(COLORINGS).toContain(read.colors);
    });
  });

  it('that cannot be loaded are replaced by defaults, with a warning', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const model = new SettingsModel();
    model.replace({ ...DEFAULT_SETTINGS, undoSeconds: 3 });
    const registry = { load: () => Promise.reject(new Error('No such plugin.')) };
    await followSettings(registry as unknown as ISettingRegistry, model);
    expect(model.state()).toEqual(DEFAULT_SETTINGS);
    expect(warn).toHaveBeenCalledOnce();
  });

  it('have defaults in an application without a settings registry', async () => {
    const model = new SettingsModel();
    let changes = 0;
    model.changed.connect(() => (changes += 1));
    await followSettings(null, model);
    expect([model.state(), changes]).toEqual([DEFAULT_SETTINGS, 1]);
  });
});

describe('LazyPromise', () => {
  it('runs its function once, when it is first awaited', async () => {
    const work = vi.fn(() => Promise.resolve('library'));
    const lazy = new LazyPromise(work);
    expect(work).not.toHaveBeenCalled();
    expect(await Promise.all([lazy, lazy])).toEqual(['library', 'library']);
    expect(await lazy).toBe('library');
    expect(work).toHaveBeenCalledOnce();
  });

  it('runs its function again after a failure', async () => {
    let isDown = true;
    const lazy = new LazyPromise(() => (isDown ? Promise.reject(new Error('Lost.')) : Promise.resolve(1)));
    await expect(Promise.resolve(lazy)).rejects.toThrow('Lost.');
    isDown = false;
    expect(await lazy).toBe(1);
  });
});
