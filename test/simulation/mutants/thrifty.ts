import type { Mutant } from './mutant.ts'

/** Thrifty scanning: what is looked at how far, and the change of modes. */
export const THRIFTY_MUTANTS: readonly Mutant[] = [
  {
    name: 'position-not-per-watch',
    file: 'shared/usecases/scanning/thrifty-looks.ts',
    find: 'const included = KINDS.slice(KINDS.indexOf(kind))',
    replace: 'const included = KINDS',
    what: 'A look at the addresses of ended invoices counts as one at all addresses.',
  },
  {
    name: 'expired-without-the-last-look',
    file: 'shared/usecases/scanning/thrifty-reads.ts',
    find: 'watchedMethods(source.mode, source.network, passed)',
    replace: 'watchedMethods(source.mode, source.network, deps.clock.now())',
    what: 'Addresses are not looked at any more once the deadline is over, although their range was not read to it.',
  },
  {
    name: 'mode-switch-without-baseline',
    file: 'shared/usecases/scanning/scan-mode.ts',
    find: 'const isNew = cursor.looks == null && ',
    replace: 'const isNew = cursor.source !== mode && ',
    what: 'Another way of scanning forgets how far addresses without an open invoice were looked at.',
  },
  {
    name: 'finality-of-a-resting-network',
    file: 'shared/usecases/scanning/thrifty-tick.ts',
    find: 'const { finalizedHeight: _, ...seen } = headFields(session, head)',
    replace: 'const seen = headFields(session, head)',
    what: 'A resting network takes its cursor for final because blocks of that height are, and halts at a reorganisation it slept through.',
    seed: '257',
  },
]
