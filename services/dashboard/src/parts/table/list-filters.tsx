import { Button, NativeSelect, TextInput } from '@mantine/core'
import { IconFilter, IconSearch, IconX } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { announce } from '../../frame/announcer.tsx'
import { bindText } from '../bind-text.ts'
import { Modal } from '../dialog/modal.tsx'
import { UntrustedText } from '../untrusted-text.tsx'
import { useNarrow } from '../use-narrow.ts'
import type { ChoiceFilter, FilterChip } from './filter-chip.ts'

/**
 * The filters of a list and, below them, a chip for each that is set: its button removes it. On a phone the field of the search stays and
 * the others open in a sheet. `children` are labelled controls.
 */
export function ListFilters(props: {
  readonly search?: ReactNode
  readonly chips: readonly FilterChip[]
  /** Removes what a chip names. */
  readonly remove: (change: FilterChip['removal']) => void
  readonly children?: ReactNode
}) {
  const { search, chips, remove, children } = props
  const isNarrow = useNarrow()
  const [isOpen, setOpen] = useState(false)
  const hasSheet = isNarrow && children !== undefined
  return (
    <>
      <search className="pm-filters">
        {search}
        {hasSheet ? (
          <Button
            variant="default"
            leftSection={<IconFilter size={16} aria-hidden />}
            aria-haspopup="dialog"
            onClick={() => setOpen(true)}
          >
            {chips.length === 0 ? 'Filters' : `Filters (${chips.length})`}
          </Button>
        ) : (
          children
        )}
      </search>
      {hasSheet ? (
        <Modal opened={isOpen} onClose={() => setOpen(false)} title="Filters" classNames={SHEET}>
          <div className="pm-stack">
            {children}
            <Button onClick={() => setOpen(false)}>Show the list</Button>
          </div>
        </Modal>
      ) : null}
      <Chips chips={chips} remove={remove} />
    </>
  )
}

const SHEET = { inner: 'pm-sheet', content: 'pm-sheet-content' }

function Chips({ chips, remove }: Pick<Parameters<typeof ListFilters>[0], 'chips' | 'remove'>) {
  const list = useRef<HTMLUListElement>(null)
  const goesOnAt = useRef<number | null>(null)
  // The button disappears with its filter: the chip in its place, or the search, takes the focus once both are drawn.
  // biome-ignore lint/correctness/useExhaustiveDependencies: it runs when a chip has gone
  useEffect(() => {
    const place = goesOnAt.current
    goesOnAt.current = null
    if (place === null) return
    const buttons = list.current?.querySelectorAll<HTMLElement>('[data-chip]') ?? []
    const next = buttons[Math.min(place, buttons.length - 1)]
    const target = next ?? document.querySelector<HTMLElement>('main search :is(input, select, button)')
    target?.focus()
  }, [chips.length])
  if (chips.length === 0) return null
  const drop = (some: readonly FilterChip[], place: number, words: string) => {
    goesOnAt.current = place
    remove(Object.assign({}, ...some.map(({ removal }) => removal)))
    announce(words)
  }
  return (
    <ul className="pm-chips" ref={list} aria-label="Active filters">
      {chips.map((chip, place) => (
        <li key={chip.label} className="pm-chip">
          <span>
            {chip.label}: <UntrustedText>{chip.value}</UntrustedText>
          </span>
          <button
            type="button"
            className="pm-chip-remove"
            data-chip=""
            aria-label={`Remove filter ${chip.label}: ${chip.value}`}
            onClick={() => drop([chip], place, `Filter ${chip.label} removed`)}
          >
            <IconX size={13} aria-hidden />
          </button>
        </li>
      ))}
      <li>
        <Button variant="subtle" size="compact-sm" onClick={() => drop(chips, 0, 'All filters removed')}>
          Clear filters
        </Button>
      </li>
    </ul>
  )
}

/** The controls of filters with known values. */
export function Choices<Name extends string>(props: {
  readonly of: readonly ChoiceFilter<Name>[]
  readonly filters: Readonly<Record<Name, string>>
  readonly set: (change: Partial<Record<Name, string>>) => void
}) {
  const { of, filters, set } = props
  return of.map(({ name, label, options }) => (
    <NativeSelect
      key={name}
      aria-label={label}
      maw={176}
      data={options.map(({ value, label: words }) => ({ value, label: words }))}
      {...bindText(filters[name], (value) => set({ [name]: value } as Partial<Record<Name, string>>))}
    />
  ))
}

/** The search of a list. It searches with Enter, as its hint says, and when it loses the focus. `/` focuses it. */
export function SearchField(props: {
  /** Everything that it finds by. */
  readonly label: string
  readonly placeholder: string
  readonly value: string
  readonly onSearch: (text: string) => void
}) {
  const { label, placeholder, value, onSearch } = props
  const search = (field: HTMLInputElement) => {
    const text = field.value.trim().slice(0, LENGTH_MAX)
    if (text !== value) onSearch(text)
  }
  return (
    <TextInput
      type="search"
      aria-label={label}
      placeholder={placeholder}
      rightSection={<kbd aria-hidden>↵</kbd>}
      leftSection={<IconSearch size={16} aria-hidden />}
      defaultValue={value}
      key={value}
      data-page-search=""
      w={280}
      maw="100%"
      onKeyDown={(event) => event.key === 'Enter' && search(event.currentTarget)}
      onBlur={({ currentTarget }) => search(currentTarget)}
    />
  )
}

/** The server takes no longer text. */
const LENGTH_MAX = 300
