import { TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'

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
