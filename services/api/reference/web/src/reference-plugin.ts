import { searchOperations } from './search-operations.ts'

/** The React functions of Swagger UI that the plugin uses. */
interface React {
  createElement(name: string, props: Readonly<Record<string, unknown>>): unknown
}

/** State and actions of Swagger UI that its own search field also receives. */
interface FilterProps {
  readonly layoutSelectors: { currentFilter(): unknown }
  readonly layoutActions: { updateFilter(phrase: string): void }
}

/** A plugin of Swagger UI: https://swagger.io/docs/open-source-tools/swagger-ui/customization/plugin-api/. */
export type ReferencePlugin = (system: { readonly React: React }) => {
  readonly fn: Readonly<Record<string, unknown>>
  readonly components: Readonly<Record<string, (props: FilterProps) => unknown>>
}

/** A search over operations instead of tag names, and no input for an API key: keys are server-side secrets. */
export const referencePlugin: ReferencePlugin = ({ React }) => ({
  fn: { opsFilter: searchOperations },
  components: { authorizeBtn: nothing, authorizeOperationBtn: nothing, FilterContainer: searchField(React) },
})

const nothing = () => null

function searchField(React: React) {
  return ({ layoutSelectors, layoutActions }: FilterProps) => {
    const phrase = layoutSelectors.currentFilter()
    return React.createElement('input', {
      type: 'search',
      className: 'wrapper search',
      'aria-label': 'Search operations',
      placeholder: 'Search operations',
      value: typeof phrase === 'string' ? phrase : '',
      onChange: ({ target }: { readonly target: HTMLInputElement }) => layoutActions.updateFilter(target.value),
    })
  }
}
