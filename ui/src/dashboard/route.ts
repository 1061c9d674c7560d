// What the dashboard shows stands in the address behind the hash, so that a view can be linked and the
// browser's own buttons lead back.
import { useEffect, useState } from "preact/hooks";

export type Route =
  | { view: "records" }
  | { view: "race"; record: string; section: string | null }
  | { view: "compare"; a: string; b: string[] }
  | { view: "trend"; workload: string; group: string };

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const parameters = new URLSearchParams(query);
  const [view, name, section] = path.split("/", 3).map(decoded);
  if (view === "race" && name) return { view: "race", record: name, section: section ?? null };
  if (view === "compare") {
    const a = parameters.get("a");
    const b = parameters.getAll("b");
    if (a !== null && b.length > 0) return { view: "compare", a, b };
  }
  if (view === "trend") {
    return { view: "trend", workload: parameters.get("workload") ?? "", group: parameters.get("group") ?? "" };
  }
  return { view: "records" };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function href(route: Route): string {
  switch (route.view) {
    case "records":
      return "#/";
    case "race":
      return `#/race/${encodeURIComponent(route.record)}${route.section === null ? "" : `/${encodeURIComponent(route.section)}`}`;
    case "compare": {
      const query = new URLSearchParams([["a", route.a], ...route.b.map((name) => ["b", name])]);
      return `#/compare?${query.toString()}`;
    }
    case "trend": {
      const query = new URLSearchParams({ workload: route.workload, group: route.group });
      return `#/trend?${query.toString()}`;
    }
  }
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parse(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
