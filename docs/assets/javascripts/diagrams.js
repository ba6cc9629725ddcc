// A wide diagram is not made so small that nobody can read it: from 60 % of its size on it scrolls instead.
// The theme draws with `mermaid.render`, into a place that styles do not reach; so its answer is changed here.

const SMALLEST = 0.6;
const draw = mermaid.render;

mermaid.render = async (...given) => {
  const drawn = await draw(...given);
  const svg = drawn.svg.replace(
    /max-width: ([\d.]+)px/,
    (all, width) => `${all}; min-width: ${Math.round(width * SMALLEST)}px`,
  );
  return { ...drawn, svg };
};
