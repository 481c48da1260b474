import { cleanup } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

// jsdom has none, and Lumino extends it.
vi.stubGlobal('DragEvent', class extends MouseEvent {});

afterEach(cleanup);
