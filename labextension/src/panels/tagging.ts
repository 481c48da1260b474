/** The dialog for editing the tags of jobs. Loaded on first use. */
import { InputDialog } from '@jupyterlab/apputils';

import { changeTags, commonTags, readTags } from '../models/jobs/tags';
import { formatCount, visibleText } from '../models/formatting/text';
import type { IFoldnote } from '../tokens';

/** Asks for the common tags of the jobs, and changes the tags of each job accordingly. */
export async function editTags({ jobs, trans }: IFoldnote, names: readonly string[]): Promise<void> {
  const tagged = names.flatMap(name => jobs.find(name) ?? []);
  const { button, value } = await InputDialog.getText({
    title:
      names.length === 1
        ? trans.__('Tags of %1', visibleText(names[0] ?? ''))
        : trans.__('Tags of %1 jobs', formatCount(names.length)),
    label: trans.__(
      'Words separated by commas. They are stored on the computer that runs Jupyter, not at the service.'
    ),
    text: commonTags(tagged).join(', ')
  });
  if (button.accept && tagged.length > 0) {
    const { added, removed } = changeTags(tagged, readTags(value ?? ''));
    await jobs.tag(names, added, removed);
  }
}
