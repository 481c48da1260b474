/** Views that are loaded when they are first shown. */
import { render, screen, waitFor } from '@testing-library/react';
import type { ReactElement } from 'react';
import { describe, expect, it } from 'vitest';

import { lazyComponent } from '../src/components/controls/lazyComponent';

function Greeting({ name }: { readonly name: string }): ReactElement {
  return <p>Hello {name}</p>;
}

describe('lazyComponent', () => {
  it('loads the component once, when it is first rendered', async () => {
    let loads = 0;
    const Later = lazyComponent(() => {
      loads += 1;
      return Promise.resolve(Greeting);
    });
    expect(loads).toBe(0);
    const { rerender } = render(<Later name="Ada" />);
    await screen.findByText('Hello Ada');
    rerender(<Later name="Grace" />);
    await screen.findByText('Hello Grace');
    expect(loads).toBe(1);
  });

  it('renders a notice with a button that reloads the page if loading fails', async () => {
    const Later = lazyComponent<{ name: string }>(() => Promise.reject(new Error('404')));
    render(<Later name="Ada" />);
    await waitFor(() => expect(screen.getByRole('status').textContent).toContain('foldnote has been updated'));
    expect(screen.getByRole('button', { name: 'Reload This Page' })).toBeTruthy();
  });
});
