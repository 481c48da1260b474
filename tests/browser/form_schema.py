"""A schema with every feature that forms support, for the browser tests."""

FEATURES = {
    "title": "Design run",
    "description": "Everything that a schema can say.",
    "type": "object",
    "required": ["name", "box", "site", "size"],
    "$defs": {"length": {"type": "number", "maximum": 9, "default": 1}},
    "properties": {
        "name": {"type": "string", "minLength": 2, "pattern": "^[a-z0-9-]+$", "examples": ["run-1"]},
        "size": {"type": ["number", "null"], "exclusiveMinimum": 0, "x-foldnote": {"unit": "nm"}},
        "box": {
            "type": "object",
            "required": ["x"],
            "properties": {"x": {"type": "number", "minimum": 1}, "y": {"type": "number", "default": 2}},
        },
        "site": {
            "oneOf": [
                {
                    "title": "By distance",
                    "type": "object",
                    "required": ["how", "nm"],
                    "properties": {"how": {"const": "distance"}, "nm": {"type": "number", "maximum": 2}},
                },
                {
                    "title": "By name",
                    "type": "object",
                    "required": ["how"],
                    "properties": {"how": {"const": "name"}, "residue": {"type": "string"}},
                },
            ]
        },
        "started": {"type": "string", "format": "date"},
        "kind": {"oneOf": [{"const": "h", "title": "Heavy"}, {"const": "l", "title": "Light"}]},
        "width": {"$ref": "#/$defs/length", "default": 5},
        "step": {"type": "integer", "multipleOf": 5},
        "cycles": {"type": "integer", "minimum": 1, "maximum": 20, "default": 3},
        "fast": {"type": "boolean", "default": False},
        "loops": {"type": "array", "items": {"enum": ["H1", "H2", "H3"]}, "default": ["H3"]},
        "names": {"type": "array", "items": {"type": "string"}, "default": ["a"]},
        "version": {"const": 2},
        "chains": {
            "type": "array",
            "items": {
                "type": "object",
                "title": "chain",
                "required": ["letter"],
                "properties": {"letter": {"type": "string"}, "length": {"type": "integer"}},
            },
        },
        "residues": {"type": "object", "additionalProperties": {"type": "string"}},
        "masks": {
            "type": "object",
            "additionalProperties": {"type": "object", "properties": {"start": {"type": "integer"}}},
        },
        "target": {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "string"}}]},
        "restraints": {"type": "object", "properties": {"force": {"type": "number"}}},
        "old": {"type": "string", "deprecated": True},
        "fixed": {"type": "string", "readOnly": True, "default": "v1"},
        "pair": {"type": "array", "prefixItems": [{"title": "From", "type": "number"}, {"type": "string"}]},
        "elsewhere": {"$ref": "https://example.org/other.json"},
        "card": {"type": "string"},
        "partner": {"type": "string"},
        "task": {"enum": ["scan", "mask"], "default": "scan"},
    },
    "if": {"properties": {"task": {"const": "mask"}}, "required": ["task"]},
    "then": {"properties": {"range": {"type": "string"}}, "required": ["range"]},
    "dependentRequired": {"card": ["partner"]},
    "dependentSchemas": {"card": {"properties": {"address": {"type": "string"}}}},
}
