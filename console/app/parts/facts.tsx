/** Facts by their names; those that are null are left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, React.ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-[112px_minmax(0,1fr)] gap-y-1">
      {facts.flatMap(([name, value]) =>
        value === null
          ? []
          : [
              <div key={name} className="contents">
                <dt className="text-quiet">{name}</dt>
                <dd className="min-w-0 break-words">{value}</dd>
              </div>,
            ],
      )}
    </dl>
  );
}
