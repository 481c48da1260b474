/** Texts from elsewhere, scores, states and tags. */
import { findScore, compareScores, formatScore } from '../src/models/results/score';
import { countStates, isLive, shownState, STATES, stateRow } from '../src/models/jobs/status';
import { changeTags, commonTags, mergeTags, readTags } from '../src/models/jobs/tags';
import { plainSentence, messageOf, splitCode, splitEnd, visibleText } from '../src/models/formatting/text';
import { PLAIN } from '../src/models/translation';
import { makeJob } from './records';
import { forSeeds } from './random';

describe('a long name', () => {
  it('is split so that its end stays visible, and a short one is not', () => {
    expect(splitEnd('pembrolizumab_variant_017')).toEqual(['pembrolizumab_v', 'ariant_017']);
    expect(splitEnd('trastuzumab-fv')).toEqual(['trastuzumab-fv', '']);
    expect(splitEnd(`${'a'.repeat(20)}👩‍🔬${'b'.repeat(9)}`)[1]).toBe(`👩‍🔬${'b'.repeat(9)}`);
  });

  it('loses no characters', () => {
    forSeeds(random => {
      const text = random.text(60);
      expect(splitEnd(text).join('')).toBe(text);
    });
  });
});

describe('splitCode', () => {
  it.each([
    ['Run `foldnote doctor` first.', ['Run ', '`foldnote doctor`', ' first.']],
    ['`a` and\n`b`', ['`a`', ' and ', '`b`']],
    ['An odd ` mark', ['An odd ` mark']],
    ['``', ['``']],
    ['<b>`<i>`\u202e', ['<b>', '`<i>`', '\ufffd']],
    ['', []]
  ])('finds code between backticks: %s', (text, expected) => {
    const parts = splitCode(text).map(part => (part.isCode ? `\`${part.text}\`` : part.text));
    expect(parts).toEqual(expected);
    expect(plainSentence(text)).toBe(
      splitCode(text)
        .map(part => part.text)
        .join('')
    );
  });

  it('loses no characters except for backticks', () => {
    forSeeds(random => {
      const text = random.text(40).replace(/[\r\n]+/g, ' ');
      expect(plainSentence(text).replaceAll('`', '')).toBe(visibleText(text).replaceAll('`', ''));
    });
  });
});

describe('visibleText', () => {
  it('replaces hidden characters', () => {
    expect(visibleText('a\u0000b\u202ec\u200bd\u2028e\r\n')).toBe('a\ufffdb\ufffdc\ufffdd\ufffde\ufffd\ufffd');
  });

  it('leaves visible characters unchanged', () => {
    for (const text of ['trastuzumab', 'Fv–1 (β)', '漢字', '🧬', 'a b']) {
      expect(visibleText(text)).toBe(text);
    }
  });

  it('is idempotent', () => {
    forSeeds(random => {
      const shown = visibleText(random.text(40));
      expect(visibleText(shown)).toBe(shown);
    });
  });

  it.each([
    [new Error('Gone.'), 'Gone.'],
    ['plain', 'plain'],
    [null, 'null']
  ])('messageOf returns the message: %o', (error, sentence) => {
    expect(messageOf(error)).toBe(sentence);
  });
});

describe('the fallback translation', () => {
  it('inserts values, and keeps a placeholder without one', () => {
    expect(PLAIN.__('%2 of %1, %3', 'a', 'b')).toBe('b of a, %3');
  });

  it('selects singular or plural', () => {
    expect([0, 1, 2].map(count => PLAIN._n('%1 job', '%1 jobs', count))).toEqual(['0 jobs', '1 job', '2 jobs']);
  });

  it('does not interpret a value as a placeholder', () => {
    expect(PLAIN.__('%1 and %2', '%2', 'b')).toBe('%2 and b');
  });
});

describe('a score', () => {
  const scored = (score: Record<string, number | string | null>) => findScore(makeJob({ score }));

  it('is the most informative of the known metrics, whatever its spelling', () => {
    expect(scored({ ptm: 0.5, 'ranking-score': 0.9 })).toMatchObject({ name: 'ranking score', value: 0.9 });
    expect(scored({ Mean_pLDDT: 88 })).toMatchObject({ name: 'mean pLDDT', value: 88 });
  });

  it('is never a count, a time or a text', () => {
    expect(scored({ residues: 120, seconds: 3, verdict: 'good' })).toBeNull();
    expect(findScore(makeJob({ score: null }))).toBeNull();
  });

  it('of an unknown metric is recognised by its name', () => {
    const score = scored({ 'my-confidence': 3 });
    expect(score).toMatchObject({ name: 'my-confidence', higher: null });
  });

  it('is formatted with three digits and a short name', () => {
    expect(formatScore({ name: 'pTM', value: 0.87123, higher: true, rank: 0 })).toBe('pTM 0.871');
    expect(formatScore({ name: 'a very long score name', value: 1e-7, higher: null, rank: 0 })).toBe(
      'a very long s… 1e-7'
    );
  });

  it('is compared within its metric, the better one first', () => {
    const energy = [-7, -9.5, -8].flatMap(value => scored({ affinity: value }) ?? []);
    expect(energy.sort(compareScores).map(score => score.value)).toEqual([-9.5, -8, -7]);
    const confidence = [0.2, 0.9].flatMap(value => scored({ iptm: value }) ?? []);
    const mixed = [...energy, ...confidence].sort(compareScores);
    expect(mixed.map(score => score.value)).toEqual([0.9, 0.2, -9.5, -8, -7]);
  });
});

describe('states', () => {
  it('are all in the table, in the order in which a job passes through them', () => {
    expect(STATES.map(row => row.state)).toEqual(['queued', 'running', 'complete', 'stopped', 'failed']);
    for (const row of STATES) {
      expect(stateRow(row.state)).toBe(row);
    }
  });

  it('determine whether a job can still change', () => {
    const jobs = (['In Queue', 'Running', 'Complete', 'Stopped'] as const).map(status => makeJob({ status }));
    expect(jobs.map(isLive)).toEqual([true, true, false, false]);
    expect(jobs.map(shownState)).toEqual(['queued', 'running', 'complete', 'stopped']);
    expect([...countStates(jobs).values()]).toEqual([1, 1, 1, 1, 0]);
  });
});

describe('tags', () => {
  const ALL = ['a', 'b', 'c', 'd'];

  it('that jobs have in common are as requested after a change', () => {
    forSeeds(random => {
      const jobs = Array.from({ length: 1 + random.below(4) }, () => makeJob({ tags: random.some(ALL) }));
      const wanted = random.some(ALL);
      const { added, removed } = changeTags(jobs, wanted);
      const after = jobs.map(job => ({ ...job, tags: mergeTags(job.tags ?? [], added, removed) }));
      expect(commonTags(after).filter(tag => !wanted.includes(tag))).toEqual([]);
      expect(wanted.every(tag => commonTags(after).includes(tag))).toBe(true);
    });
  });

  it('of a single job are kept when several jobs are tagged', () => {
    const [first, second] = [makeJob({ tags: ['a', 'own'] }), makeJob({ tags: ['a'] })];
    const { added, removed } = changeTags([first, second], ['new']);
    expect(mergeTags(first.tags ?? [], added, removed)).toEqual(['new', 'own']);
    expect(mergeTags(second.tags ?? [], added, removed)).toEqual(['new']);
  });

  it('are separated by commas, without surrounding spaces', () => {
    expect(readTags(' , a  b ,\tc,a b,')).toEqual(['a b', 'c']);
    expect(readTags('')).toEqual([]);
  });
});
