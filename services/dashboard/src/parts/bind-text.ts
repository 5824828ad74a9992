/** What a text field needs to show a text and to change it. */
export const bindText = (value: string, set: (value: string) => void) => ({
  value,
  onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }): void =>
    set(currentTarget.value),
})
